/** The pictures of an exported document. */
export {};
