// A node that `rampart serve` runs on the store of a demo, and its principals.
import { spawn } from "node:child_process";
import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export class ServedNode {
  constructor(programs, folder) {
    this.programs = programs;
    this.folder = folder;
    this.endpoint = `${folder}/store/endpoint`;
  }

  async start() {
    rmSync(this.endpoint, { force: true });
    const log = openSync(`${this.folder}/console.log`, "a");
    this.process = spawn(
      `${this.programs}/rampart`,
      ["serve", "--config", `${this.folder}/rampartd.toml`],
      { stdio: ["ignore", log, log] },
    );
    while (!existsSync(this.endpoint) || readFileSync(this.endpoint, "utf8") === "") {
      if (this.process.exitCode !== null)
        throw new Error(readFileSync(`${this.folder}/console.log`, "utf8").slice(-3000));
      await pause(50);
    }
    this.url = `http://${readFileSync(this.endpoint, "utf8").trim()}`;
    this.token = readFileSync(`${this.folder}/store/keys/token`, "utf8").trim();
  }

  async stop() {
    if (this.process.exitCode !== null) return;
    const over = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGTERM");
    await over;
  }

  /** Lets the next start have the port of this one. */
  keepPort() {
    const file = `${this.folder}/rampartd.toml`;
    const port = new URL(this.url).port;
    writeFileSync(file, readFileSync(file, "utf8").replace("port = 0", `port = ${port}`));
  }

  async ask(method, path, body) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Makes a principal and returns its token. */
  async principal(name, scopes) {
    return (await this.ask("POST", "/v1/tokens", { name, scopes, expires: null })).token;
  }
}
