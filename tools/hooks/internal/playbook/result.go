package playbook

import (
	"strings"
	"time"
)

// Result is what a run has done that has come to its end. Tasks may have failed.
type Result struct {
	// OK, Changed, Failures, Skipped, Unreachable, Rescued and Ignored count tasks as Ansible does: OK includes Changed
	// and Ignored, and Failures doesn't include Rescued.
	OK, Changed, Failures, Skipped, Unreachable, Rescued, Ignored int
	// Failed are the tasks that have failed, in their order, without those that were rescued or whose errors are ignored.
	// It has at most MaxFailed.
	Failed []FailedTask
	// Completed is the time of the end.
	Completed time.Time
	// Code is the exit code of ansible-playbook.
	Code int
	// Status has the fields that tasks have set by set_stats, with data: {status: {...}}. nil for none.
	Status map[string]any
	// RequeueAfter is the time after which the playbook wants to be run again, by the module requeue_after of
	// operator_sdk.util. nil if it doesn't say.
	RequeueAfter *time.Duration
	// Artifacts is the folder with the output and the events of the run. It may have been deleted by later runs.
	Artifacts string
}

// MaxFailed is how many failed tasks a Result has.
const MaxFailed = 100

// FailedTask is a task that has failed.
type FailedTask struct {
	// Name is the name of the task, and Action the module.
	Name, Action string
	// Message says why, in at most a few KB. It hides what a task with no_log has returned.
	Message string
	// Unreachable: the host wasn't reached.
	Unreachable bool
}

// Succeeded reports whether no task has failed.
func (r *Result) Succeeded() bool {
	return len(r.Failed) == 0 && r.Failures == 0 && r.Unreachable == 0 && r.Code == 0
}

// Message returns the messages of the failed tasks, in lines.
func (r *Result) Message() string {
	lines := make([]string, len(r.Failed))
	for i, task := range r.Failed {
		lines[i] = task.Message
	}
	return strings.Join(lines, "\n")
}
