package playbook

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"github.com/operkit/operkit/tools/hooks/internal/text"
)

// Cause says why a playbook wasn't run to its end.
type Cause string

// The causes.
const (
	// NotStarted: ansible-playbook couldn't be started.
	NotStarted Cause = "NotStarted"
	// Invalid: the playbook, or a file that it names, has a mistake for which Ansible doesn't run it.
	Invalid Cause = "Invalid"
	// TimedOut: the time of the run was over.
	TimedOut Cause = "TimedOut"
	// Canceled: the context of the caller has ended.
	Canceled Cause = "Canceled"
	// Killed: a signal has ended ansible-playbook. It may have come from a limit of memory.
	Killed Cause = "Killed"
	// Stopped: ansible-playbook has ended by itself before the end of the playbook.
	Stopped Cause = "Stopped"
	// Garbled: the events of the run aren't as they have to be.
	Garbled Cause = "Garbled"
)

// RunError reports that a playbook wasn't run to its end.
type RunError struct {
	// Path is the playbook or the role.
	Path string
	// Cause says why.
	Cause Cause
	// Code is the exit code of ansible-playbook, or -1 if it has none.
	Code int
	// Output is the end of what ansible-playbook has written, at most a few KB, with line breaks.
	Output string
	// Artifacts is the folder with the output and the events of the run, empty if there was none.
	Artifacts string
	// Err is the error, with details.
	Err error

	// said is what an error has of the output.
	said string
}

// Error names the playbook, the cause, and the end of the output.
func (e *RunError) Error() string {
	message := fmt.Sprintf("%s: %v", e.Path, e.Err)
	if said := lastError(e.said); said != "" {
		message += ": it has written: " + text.OneLine(said, limits.Text)
	}
	return message
}

// lastError returns the begin of the last error that Ansible reports in a text, or else the end of the text.
func lastError(said string) string {
	if at := max(strings.LastIndex(said, "ERROR! "), strings.LastIndex(said, "[ERROR]: ")); at >= 0 {
		return said[at:]
	}
	return said[max(0, len(said)-limits.Text):]
}

// Unwrap returns Err.
func (e *RunError) Unwrap() error { return e.Err }
