/** Files that the page offers. */

import { svgText } from "../pictures/svg";
import type { Picture } from "../pictures/picture";
import type { Source } from "../pictures/source";

/** Pixels per unit of the SVG. */
const DENSITY = 2;

export function textFile(text: string, type: string): Blob {
  return new Blob([text], { type: `${type};charset=utf-8` });
}

export function svgFile(picture: Picture, source: Source): Blob {
  return textFile(svgText(picture, source), "image/svg+xml");
}

/** The picture's SVG, drawn into a bitmap. */
export async function pngFile(picture: Picture, source: Source): Promise<Blob> {
  const address = URL.createObjectURL(svgFile(picture, source));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = DENSITY * image.naturalWidth;
    canvas.height = DENSITY * image.naturalHeight;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => {
      canvas.toBlob((blob) => {
        if (blob) done(blob);
        else fail(new Error("the browser did not draw the picture"));
      }, "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
