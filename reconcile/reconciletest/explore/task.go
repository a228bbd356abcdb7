package explore

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// task is a life with disturbances of one execution that are still to be tried.
type task struct {
	*lesson
	// before are the disturbances of that execution.
	before []armed
	jobs   []*job
	// tried counts those that were tried.
	tried int
}

// job is one disturbance that is still to be tried, after those of its task.
type job struct {
	*task
	last armed
	// key is the same for disturbances that are much alike: of the same request or object in the same chapter, and for
	// pairs of the same kinds of requests or objects. point tells those of a key apart by the number of the request.
	key, point string
	// fewest, atPoint, inTask and nth order the jobs of a queue, see queue.
	fewest, atPoint, inTask, nth int
}

// newTask returns the task of disturbances that follow others in an execution.
func newTask(known *lesson, before []armed, tr *trace, choices []choice) *task {
	t := &task{lesson: known, before: before}
	first := ""
	if len(before) > 0 {
		first = fmt.Sprintf("%s %s, ", before[0].act, known.subjectOf(before[0].choice))
	}
	for _, c := range choices {
		j := &job{task: t, last: c.arm(tr.chapters[c.chapter-1])}
		if j.key = fmt.Sprintf("%s@%d %s", c.act, c.chapter, j.last.about); first != "" {
			j.key = fmt.Sprintf("%s%s %s", first, c.act, tr.subjectOf(c))
		}
		j.point = fmt.Sprintf("%s #%d", j.key, c.request)
		t.jobs = append(t.jobs, j)
	}
	return t
}

// disturbances are those of the execution of a job.
func (j *job) disturbances() []armed { return append(slices.Clone(j.before), j.last) }

// wayAfter returns a short text for what the operator does after a disturbance, until the end of its life.
func (tr *trace) wayAfter(c choice) string {
	lines := []string{tr.life.name, fmt.Sprint(c.chapter)}
	for n := c.chapter - 1; n < len(tr.chapters); n++ {
		now := tr.chapters[n]
		calls := now.calls
		if n == c.chapter-1 && c.place() == atRequest {
			calls = calls[min(c.request, len(calls)):]
		}
		for _, call := range calls {
			lines = append(lines, suffix.ReplaceAllString(fmt.Sprint(call.Verb, call.Action, call.Ref), ""), call.Subresource)
		}
		lines = append(lines, fmt.Sprint(now.passed))
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
}
