// What is shown while the server is away.

export function Away({ message, retry }: { message: string; retry(): void }) {
  return (
    <div role="alert" className="oq-away">
      <p className="oq-error">{message}</p>
      <button type="button" className="oq-primary" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
