/** The query shown first. Only used if the schema has these fields. */
export const FIRST_QUERY = `# The courses of the member whose token this is.
# Ctrl-Enter runs it; the book shows the schema.
query Courses($first: Int = 10) {
  viewer {
    id
    email
    enrolledCourses(first: $first) {
      nodes {
        slug
        expireDate
        hasLifetimeAccess
        lastWatchedLecture {
          lectureId
          positionSeconds
        }
      }
    }
  }
}
`;
