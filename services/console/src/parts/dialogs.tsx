import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { quoted } from "../format";
import { t } from "../texts";
import { Command, Failure } from "./basics";

/** A dialog over the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({
  title,
  children,
  close,
}: {
  title: string;
  children: ComponentChildren;
  close: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={close}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

export interface Field {
  name: string;
  label: string;
  hint?: string;
  type?: "text" | "date";
  optional?: boolean;
  empty?: string;
}

/** A button that opens a dialog with fields and a reason, and does something with them. */
export function Ask({
  open,
  title,
  text,
  does,
  danger,
  fields = [],
  reason = t.dialog.reason,
  act,
}: {
  open: string;
  title: string;
  text: ComponentChildren;
  does: string;
  danger?: boolean;
  fields?: ReadonlyArray<Field>;
  reason?: string;
  act: (values: Record<string, string>) => Promise<void>;
}) {
  const [shown, show] = useState(false);
  return (
    <>
      <button type="button" class={danger ? "danger" : undefined} onClick={() => show(true)}>
        {open}
      </button>
      {shown ? (
        <Dialog title={title} close={() => show(false)}>
          <AskForm
            text={text}
            does={does}
            danger={danger ?? false}
            reason={reason}
            act={act}
            close={() => show(false)}
            fields={[
              ...fields,
              {
                name: "reason",
                label: reason,
                hint: t.dialog.reasonHint,
                empty: t.dialog.reasonEmpty,
              },
            ]}
          />
        </Dialog>
      ) : null}
    </>
  );
}

function AskForm({
  text,
  does,
  danger,
  fields,
  act,
  close,
}: {
  text: ComponentChildren;
  does: string;
  danger: boolean;
  fields: ReadonlyArray<Field>;
  reason: string;
  act: (values: Record<string, string>) => Promise<void>;
  close: () => void;
}) {
  const [values, set] = useState<Record<string, string>>({});
  const [wrong, setWrong] = useState("");
  const [error, setError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  const id = useId();
  const submit = async (event: Event) => {
    event.preventDefault();
    const missing = fields.find((one) => !one.optional && !(values[one.name] ?? "").trim());
    setWrong(missing?.empty ?? "");
    if (missing) {
      document.getElementById(`${id}-${missing.name}`)?.focus();
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await act(values);
      close();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const inputOf = (one: Field) => ({
    id: `${id}-${one.name}`,
    "aria-describedby": one.hint ? `${id}-${one.name}-hint` : undefined,
    value: values[one.name] ?? "",
    onInput: (event: { currentTarget: HTMLInputElement }) =>
      set({ ...values, [one.name]: event.currentTarget.value }),
  });
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <div class="dialog-text">{text}</div>
      {fields.map((one) => (
        <div class="field" key={one.name}>
          <label for={`${id}-${one.name}`}>{one.label}</label>
          {one.type === "date" ? (
            <input type="date" {...inputOf(one)} />
          ) : (
            <input type="text" autocomplete="off" maxLength={1024} {...inputOf(one)} />
          )}
          {one.hint ? (
            <p class="hint" id={`${id}-${one.name}-hint`}>
              {one.hint}
            </p>
          ) : null}
        </div>
      ))}
      {wrong ? (
        <p class="wrong" role="alert">
          {wrong}
        </p>
      ) : null}
      {error !== undefined ? <Failure error={error} /> : null}
      <div class="buttons">
        <button type="button" onClick={close}>
          {t.dialog.cancel}
        </button>
        <button type="submit" class={danger ? "danger primary" : "primary"} disabled={busy}>
          {does}
        </button>
      </div>
    </form>
  );
}

/** A button that shows what a table or a figure is by command: with curl, and with rampart. */
export function Ways({ path, rampart }: { path: string; rampart?: string }) {
  const [shown, show] = useState(false);
  const curl = `curl -H "Authorization: Bearer $(cat TOKEN)" ${quoted(location.origin + path)}`;
  return (
    <>
      <button type="button" class="small ways" onClick={() => show(true)}>
        {t.copy.open}
      </button>
      {shown ? (
        <Dialog title={t.copy.title} close={() => show(false)}>
          <h3>{t.copy.curl}</h3>
          <Command text={curl} label={t.copy.curl} />
          {rampart ? (
            <>
              <h3>{t.copy.rampart}</h3>
              <Command text={rampart} label={t.copy.rampart} />
            </>
          ) : null}
          <p class="hint">{t.copy.note}</p>
          <div class="buttons">
            <button type="button" onClick={() => show(false)}>
              {t.copy.close}
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
