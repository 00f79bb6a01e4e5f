/** The slope of a fitted line, and its confidence interval. */
export interface Slope {
  /** Change of y per unit of x. */
  readonly slope: number;
  /** Half of the 95 % confidence interval. */
  readonly margin: number;
  readonly points: number;
}

/** Student's t at 97.5 %, by degrees of freedom. Beyond the table it is within 2 % of the normal distribution. */
const T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1];

/**
 * Fits a line by least squares. Consecutive samples are correlated, which would make the margin too small, so the margin is
 * calculated from the means of `blocks` equal parts of the time.
 */
export function slopeOf(points: readonly (readonly [x: number, y: number])[], blocks = 12): Slope {
  const size = Math.max(1, Math.floor(points.length / blocks));
  const means: (readonly [number, number])[] = [];
  for (let at = 0; at + size <= points.length; at += size) means.push(mean(points.slice(at, at + size)));
  const [x, y] = mean(means);
  const spread = sum(means.map(([one]) => (one - x) ** 2));
  const slope = sum(means.map(([one, other]) => (one - x) * (other - y))) / spread;
  const degrees = means.length - 2;
  const residual = sum(means.map(([one, other]) => (other - y - slope * (one - x)) ** 2));
  const error = Math.sqrt(residual / degrees / spread);
  return { slope, margin: (T[degrees - 1] ?? 2) * error, points: points.length };
}

function mean(points: readonly (readonly [number, number])[]): readonly [number, number] {
  return [sum(points.map(([x]) => x)) / points.length, sum(points.map(([, y]) => y)) / points.length];
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
