package explore

import (
	"fmt"
	"strings"
)

// report is the result of an exploration.
type report struct {
	findings []*finding
	// visited counts states, disturbed the executions with one disturbance, paired those with two, and walked those
	// with more.
	visited, disturbed, paired, walked int
	covered                            coverage
	// left is what a bound has left out.
	left string
}

func (r report) String() string {
	return fmt.Sprintf("EXPLORE states=%d disturbances=%d pairs=%d walks=%d findings=%d", r.visited, r.disturbed, r.paired, r.walked, len(r.findings))
}

// summary is the report with the coverage.
func (r report) summary() string {
	lines := []string{r.String()}
	if len(r.covered.rows) > 0 {
		lines = append(lines, r.covered.String())
	}
	if r.left != "" {
		lines = append(lines, r.left)
	}
	return strings.Join(lines, "\n")
}

// finding is a life that ends as it shouldn't.
type finding struct {
	*trace
	problem string
	// chapter is where it shows, counted from 0, and details say how.
	chapter int
	details []string
	// whole is the life that was made smaller by cuts.
	whole life
	cuts  cutList
	// first is the finding before it was made smaller.
	first *finding
	// file is where the finding is kept, empty for nowhere.
	file string
}

func found(tr *trace, chapter int, problem string, details ...string) *finding {
	f := &finding{trace: tr, problem: problem, chapter: chapter, details: details, whole: tr.life}
	f.first = f
	return f
}

// subject is what is wrong, without values: the object that is changed in a hot loop, where something waits, or what
// panics.
func (f *finding) subject() string {
	switch {
	case f.problem == panics && len(f.details) > 0:
		return numberInText.ReplaceAllString(f.details[0], "")
	case f.problem == neverEnds && len(f.details) > 1:
		return f.details[1]
	case strings.HasPrefix(subjectOf(f.details), "hot loop") && len(f.details) > 1:
		object, _, _ := strings.Cut(f.details[1], " was changed ")
		return object
	}
	return subjectOf(f.details)
}

func subjectOf(details []string) string {
	if len(details) == 0 {
		return ""
	}
	return strings.SplitN(details[0], ":", 2)[0]
}

// same reports whether two findings are about the same problem of the same object or field.
func (f *finding) same(other *finding) bool {
	return f.problem == other.problem && f.subject() == other.subject()
}

// replay is the text for the option Replay.
func (f *finding) replay() string {
	return script{f.whole.name, f.cuts, planOf(f.disturbances)}.String()
}
