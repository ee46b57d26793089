// The dialog in which somebody signs in, and the button that opens it.

import { useEffect, useRef, useState, type SyntheticEvent } from "react";

import { BucketGauge } from "./bucket";
import { messageOf, signIn, signInWithToken } from "./server";
import { askToSignIn, session, signInReason, signOut } from "./session";
import { useStore } from "./store";

export function SignInDialog() {
  const reason = useStore(signInReason);
  const dialog = useRef<HTMLDialogElement>(null);
  const [withToken, setWithToken] = useState(false);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    const element = dialog.current;
    if (reason !== null && element && !element.open) element.showModal();
    if (reason === null) element?.close();
  }, [reason]);

  async function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const field = (name: string) => String(new FormData(form).get(name) ?? "");
    setBusy(true);
    setError("");
    try {
      if (withToken) await signInWithToken(field("token").trim());
      else await signIn(field("user"), field("password"));
      form.reset();
      signInReason.set(null);
    } catch (failure) {
      setError(messageOf(failure));
    }
    setBusy(false);
  }

  return (
    <dialog ref={dialog} className="oq-dialog" aria-labelledby="sign-in-title" onClose={() => signInReason.set(null)}>
      <form onSubmit={submit}>
        <h2 id="sign-in-title">Sign in</h2>
        {reason && <p>{reason}</p>}
        {withToken ? (
          <label>
            Token
            <textarea name="token" required rows={4} autoComplete="off" spellCheck={false} />
          </label>
        ) : (
          <>
            <label>
              User
              <input name="user" required autoComplete="username" autoCapitalize="none" spellCheck={false} />
            </label>
            <label>
              Password
              <input name="password" type="password" required autoComplete="current-password" />
            </label>
          </>
        )}
        <p role="alert" className="oq-error">
          {error}
        </p>
        <p className="oq-note">You stay signed in in this tab until you sign out, close it, or the token expires.</p>
        <div className="oq-buttons">
          <button type="submit" className="oq-primary" disabled={busy}>
            Sign in
          </button>
          <button type="button" onClick={() => setWithToken(!withToken)}>
            {withToken ? "Use a password" : "Use a token"}
          </button>
          <button type="button" onClick={() => signInReason.set(null)}>
            Not now
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Who is signed in, and their credits. */
export function Account() {
  const current = useStore(session);
  if (!current) {
    return (
      <button type="button" className="oq-primary" onClick={() => askToSignIn()}>
        Sign in
      </button>
    );
  }
  return (
    <>
      <BucketGauge />
      <span className="oq-user">{current.user}</span>
      <button type="button" onClick={signOut}>
        Sign out
      </button>
    </>
  );
}
