// Formats JSON with comments, as two plugins of Prettier in one: a parser that leaves the text as it is, and a printer.

import { applyEdits, format } from "jsonc-parser";

interface Text {
  text: string;
}

const FORMAT = "json-text";

export const parsers = {
  jsonc: {
    astFormat: FORMAT,
    parse: (text: string): Text => ({ text }),
    locStart: () => 0,
    locEnd: ({ text }: Text) => text.length,
  },
};

export const printers = {
  [FORMAT]: {
    print(path: { node: Text }): string {
      const { text } = path.node;
      return applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2 }));
    },
  },
};
