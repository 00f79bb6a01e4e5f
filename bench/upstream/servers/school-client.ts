/** A hand-written client of the school's REST services that uses fetch, for the peers of our endpoint. */
const UPSTREAM = process.env.UPSTREAM ?? '';
const PAGE = 50;

export interface Course {
  readonly slug: string;
  readonly expireDate: string | null;
  readonly hasLifetimeAccess: boolean;
}

export interface Position {
  readonly slug: string;
  readonly lastWatchedLecture: { readonly lectureId: string; readonly positionSeconds: number };
}

interface EnrolmentRow {
  readonly course: { readonly slug: string };
  readonly expires_at: number;
  readonly lifetime: number;
}

interface PositionRow {
  readonly course_slug: string;
  readonly lecture_id: number;
  readonly position_ms: number;
}

async function read<T>(path: string, memberId: string): Promise<T> {
  const answer = await fetch(UPSTREAM + path, {
    headers: { accept: 'application/json', 'x-member-id': memberId },
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`the school responded with ${answer.status}`);
  return (await answer.json()) as T;
}

export async function readEmail(memberId: string): Promise<string> {
  const answer = await read<{ data: { email_address: string } }>(`/api/v1/members/${memberId}`, memberId);
  return answer.data.email_address;
}

/** Pages have a fixed size, so that a cursor stays valid if `first` changes. Our own endpoint does the same. */
export async function readCourses(memberId: string, first: number, after: number): Promise<readonly Course[]> {
  const found: Course[] = [];
  for (let number = Math.floor(after / PAGE) + 1; ; number += 1) {
    const { data, meta } = await read<{ data: EnrolmentRow[]; meta: { next_page: number | null } }>(
      `/api/v1/members/${memberId}/enrolments?page=${number}&per_page=${PAGE}`,
      memberId,
    );
    const from = Math.max(0, after + found.length - (number - 1) * PAGE);
    for (const row of data.slice(from, from + first - found.length)) {
      found.push({
        slug: row.course.slug,
        expireDate: row.expires_at === 0 ? null : new Date(row.expires_at * 1000).toISOString().replace('.000Z', 'Z'),
        hasLifetimeAccess: row.lifetime === 1,
      });
    }
    if (found.length === first || meta.next_page === null) return found;
  }
}

export async function readPositions(memberId: string, slugs: readonly string[]): Promise<readonly Position[]> {
  const query = encodeURIComponent(slugs.join(','));
  const { positions } = await read<{ positions: PositionRow[] }>(`/v2/positions?slugs=${query}`, memberId);
  return positions.map((row) => ({
    slug: row.course_slug,
    lastWatchedLecture: { lectureId: String(row.lecture_id), positionSeconds: Math.floor(row.position_ms / 1000) },
  }));
}
