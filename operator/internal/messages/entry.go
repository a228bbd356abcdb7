package messages

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Entry explains a message.
type Entry struct {
	// Name is the reason, the text of the line in the log, or the package and the name of the error.
	Name string
	// Of tells the entry from another one with the same name, as in "of a Deployment". It is mostly empty.
	Of string
	// Where is where the message is met: the condition and its status, the type of the event, the state of the object,
	// or the level of the line. It is empty for errors.
	Where string
	// Texts are parts of the text that people see beside the name, or instead of it.
	Texts []string
	// Meaning is what the message means, Cause why it appears, and Remedy what to do.
	Meaning, Cause, Remedy string
}

// Heading returns the heading of the entry on the page.
func (e Entry) Heading() string {
	if e.Of != "" {
		return e.Name + " (" + e.Of + ")"
	}
	return e.Name
}

// Anchor returns the link to the entry, from the folder of the guide.
func (e Entry) Anchor() string { return File + "#" + slug(e.Heading()) }

// slug returns the anchor that GitHub gives to a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// Section is a part of the page.
type Section struct {
	// Title is the heading of the section, One what one of its entries is, and About the text below the heading.
	Title, One, About string
	// Entries are sorted by their headings.
	Entries []Entry
}

// Sections returns all entries. The caller must not change them.
var Sections = sync.OnceValue(func() []Section {
	all := []Section{
		{conditionsTitle, "reason of a condition", conditionsAbout, slices.Concat(conditionsRollout, conditionsOwn, conditionsPatch)},
		{"Reasons of events", "reason of an event", eventsAbout, slices.Clone(events)},
		{"Reasons of readiness", "reason of readiness", readinessAbout, slices.Concat(readinessWorkloads, readinessPods,
			readinessKinds, readinessKubernetes, readinessKnown, readinessCommon, readinessRules)},
		{logTitle, "line in the log", logAbout, slices.Concat(logCluster, logEngine, logHandlers, logDesired, logKinds, logResources, logPatches, logProcess,
			logLeader, logCommands, logWatchers, logAdmission, logWebhooks, logServing)},
		{"Errors", "error", errorsAbout, slices.Concat(errorsDeploy, errorsReconcile, errorsOthers)},
	}
	for _, section := range all {
		slices.SortFunc(section.Entries, func(a, b Entry) int {
			return strings.Compare(strings.ToLower(a.Heading()), strings.ToLower(b.Heading()))
		})
	}
	return all
})

const (
	conditionsTitle = "Reasons of conditions"
	conditionsAbout = "They stand in the status of a resource. `Reconciling` and `Stalled` repeat the reason of `Ready` or " +
		"`Updating`. `NAME status RESOURCE` shows all conditions with their messages."
	eventsAbout = "`kubectl describe` shows the events of a resource. A failure that isn't listed here has the reason of the " +
		"condition `Updating` as its reason."
	readinessAbout = "Why an object is ready or not. People mostly see the text, as in `StatefulSet hello-redis: InProgress " +
		"(the controller hasn't observed the object yet)`; the reason is for programs that use the module status. If an " +
		"object's own condition decides, the reason is that of the condition, and may come from any controller."
	logTitle = "Lines in the log"
	logAbout = "Warnings and errors in the log of an operator and of its commands. A line whose message is short has the " +
		"attribute `help` with the link to its entry."
	errorsAbout = "Errors with a type or a variable of their own in Go, by package. Their texts stand in conditions, in events " +
		"and in the log."
)
