import type { ComponentType } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { connected, ended, isNetwork, leave, may, refreshSession, signIn } from "./api";
import { type SignedIn, closeSession } from "./client";
import { client } from "./api";
import { utc, link, local } from "./format";
import { type Route, useBack, useRoute, useSession, useWatched } from "./hooks";
import { ApprovalsPage } from "./pages/approvals";
import { AuditPage } from "./pages/audit";
import { CertificatePage } from "./pages/certificate";
import { DecisionPage } from "./pages/decision";
import { DecisionsPage } from "./pages/decisions";
import { HealthPage } from "./pages/health";
import { NowPage } from "./pages/now";
import { PoliciesPage } from "./pages/policies";
import { PrivacyPage } from "./pages/privacy";
import { RunPage, RunsPage } from "./pages/runs";
import { Failure, Page } from "./parts/basics";
import { type Scope, t } from "./texts";
import { type Theme, keepTheme, storedTheme } from "./theme";

export interface PageProps {
  route: Route;
}

/** The pages in their order, and the scopes of which a session needs one to see each. */
const PAGES: ReadonlyArray<{
  name: keyof typeof t.nav & string;
  scopes: ReadonlyArray<Scope>;
  page: ComponentType<PageProps>;
  one?: ComponentType<PageProps>;
}> = [
  { name: "now", scopes: ["read"], page: NowPage },
  { name: "decisions", scopes: ["read", "audit"], page: DecisionsPage, one: DecisionPage },
  { name: "policies", scopes: ["read"], page: PoliciesPage },
  { name: "runs", scopes: ["read"], page: RunsPage, one: RunPage },
  { name: "approvals", scopes: ["read"], page: ApprovalsPage },
  { name: "audit", scopes: ["audit"], page: AuditPage },
  { name: "privacy", scopes: ["read", "erase"], page: PrivacyPage },
  { name: "health", scopes: ["read", "grant"], page: HealthPage },
];

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1f4b8f" />
      <path d="M7 24V11h4v3h3v-3h4v3h3v-3h4v13z" fill="#fff" />
    </svg>
  );
}

function SignIn() {
  const was = useWatched(ended);
  const [token, set] = useState("");
  const [empty, setEmpty] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  const id = useId();
  useEffect(() => {
    document.title = t.titleOf(t.session.title);
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setEmpty(token.trim() === "");
    setError(undefined);
    if (token.trim() === "") return;
    setBusy(true);
    try {
      await signIn(token.trim());
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <div class="card">
        <span class="brand">
          <Mark />
          {t.product}
        </span>
        <h1>{t.session.title}</h1>
        {was ? (
          <p class="wrong" role="status">
            {t.session[was]}
          </p>
        ) : null}
        <p class="quiet">{t.session.lead}</p>
        <form onSubmit={(event) => void submit(event)} noValidate>
          <div class="field">
            <label for={id}>{t.session.token}</label>
            <input
              id={id}
              type="password"
              autocomplete="off"
              spellcheck={false}
              value={token}
              aria-describedby={`${id}-hint`}
              onInput={(event) => set(event.currentTarget.value)}
            />
            <p class="hint" id={`${id}-hint`}>
              {t.session.hint}
            </p>
          </div>
          {empty ? (
            <p class="wrong" role="alert">
              {t.session.empty}
            </p>
          ) : null}
          {error !== undefined ? <Failure error={error} /> : null}
          <button class="primary" type="submit" disabled={busy}>
            {t.session.enter}
          </button>
        </form>
      </div>
    </main>
  );
}

function Me({ who }: { who: SignedIn }) {
  const [theme, set] = useState<Theme>(storedTheme);
  const [error, setError] = useState<unknown>(undefined);
  const choose = (next: Theme) => {
    keepTheme(next);
    set(next);
  };
  const signOut = async () => {
    try {
      await closeSession(client, { "X-Rampart-Write-Key": who.write_key });
      leave("");
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <div class="me">
      <div class="about">
        <div class="quiet">{t.session.as}</div>
        <div class="who">{who.principal}</div>
        <div class="quiet">
          {t.session.until}{" "}
          <time dateTime={who.ends} title={utc(who.ends)}>
            {local(who.ends)}
          </time>
        </div>
      </div>
      <select
        aria-label={t.theme.label}
        value={theme}
        onChange={(event) => choose(event.currentTarget.value as Theme)}
      >
        <option value="auto">{t.theme.auto}</option>
        <option value="light">{t.theme.light}</option>
        <option value="dark">{t.theme.dark}</option>
      </select>
      <button type="button" onClick={() => void signOut()}>
        {t.session.out}
      </button>
      {error !== undefined ? <Failure error={error} /> : null}
    </div>
  );
}

function Connection() {
  const now = useWatched(connected);
  const back = useBack();
  return (
    <div role="status" aria-live="polite">
      {!now ? (
        <p class="line lost">{t.connection.lost}</p>
      ) : back ? (
        <p class="line back">{t.connection.back}</p>
      ) : null}
    </div>
  );
}

function Current({ route }: { route: Route }) {
  if (route.page === "certificate" && route.rest[0])
    return may("read") || may("audit") ? (
      <CertificatePage route={route} key={route.rest[0]} />
    ) : (
      <Lacking scope="audit" />
    );
  const found = PAGES.find((one) => one.name === route.page);
  const Component = route.rest.length === 0 ? found?.page : found?.one;
  if (!found || !Component)
    return (
      <Page title={t.errors.unknownPage}>
        <p>{t.errors.unknownPageWhat}</p>
      </Page>
    );
  const scope = found.scopes.find(may);
  if (!scope) return <Lacking scope={found.scopes[0]!} />;
  return <Component route={route} key={route.rest.join("/")} />;
}

function Lacking({ scope }: { scope: Scope }) {
  return (
    <Page title={t.errors.missing(scope)}>
      <p>{t.errors.missingWhat}</p>
    </Page>
  );
}

export function App() {
  const who = useSession();
  const route = useRoute();
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    let timer = 0;
    const ask = () => {
      refreshSession().then(
        () => setError(undefined),
        (problem: unknown) => {
          setError(problem);
          if (isNetwork(problem)) timer = window.setTimeout(ask, 2_000);
        },
      );
    };
    ask();
    return () => window.clearTimeout(timer);
  }, []);
  if (who === undefined)
    return error === undefined ? (
      <p class="quiet sign-in" role="status">
        {t.loading}
      </p>
    ) : (
      <main class="sign-in">
        <Failure error={error} again={() => location.reload()} polls />
      </main>
    );
  if (who === null)
    return (
      <>
        <Connection />
        <SignIn />
      </>
    );
  return (
    <>
      <a
        class="skip"
        href="#page"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector("h1")?.focus();
        }}
      >
        {t.skip}
      </a>
      <div class="frame">
        <header class="side">
          <a class="brand" href={link("now")}>
            <Mark />
            {t.product}
          </a>
          <nav class="nav" aria-label={t.nav.label}>
            {PAGES.filter((one) => one.scopes.some(may)).map((one) => (
              <a
                key={one.name}
                href={link(one.name)}
                aria-current={route.page === one.name ? "page" : undefined}
              >
                {t.nav[one.name]}
              </a>
            ))}
          </nav>
          <Me who={who} />
        </header>
        <div>
          <Connection />
          <main id="page">
            <Current route={route} />
          </main>
        </div>
      </div>
    </>
  );
}
