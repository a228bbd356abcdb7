package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// failedJob is the status of a Job that has failed.
var failedJob = fields{"startTime": "2030-01-01T00:00:00Z", "failed": int64(2), "conditions": list{
	fields{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}}}

// heldShop is a shop whose Job for version 1 does nothing, so that the test sets what happens.
func heldShop(t *testing.T, opts ...jobs.Option) *reconciletest.Harness {
	t.Helper()
	h := reconciletest.New(t, shop(nil, opts...))
	h.Hold(job1)
	h.Apply(newTea("1"))
	h.RunUntilSettled()
	return h
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		status fields
		want   string
		opts   []jobs.Option
	}{
		"its output": {failed(ended("migrate", 3, 1, "Error", "connecting\nrelation \"teas\" exists\n")),
			`; Pod last: container "migrate" ended with exit code 3: connecting | relation "teas" exists`, nil},
		"no memory": {failed(ended("migrate", 137, 1, "OOMKilled", "")), `; Pod last: container "migrate" ended with exit code 137: OOMKilled`, nil},
		"of several containers the one that failed": {failed(ended("proxy", 0, 1, "Completed", "fine"), ended("migrate", 1, 2, "Error", "no")),
			`; Pod last: container "migrate" ended with exit code 1: no`, nil},
		"of several failed containers the first one to fail": {
			fields{"phase": "Failed", "initContainerStatuses": list{ended("sidecar", 143, 9, "Error", "terminated")}, "containerStatuses": list{ended("migrate", 1, 2, "Error", "no")}},
			`; Pod last: container "migrate" ended with exit code 1: no`, nil},
		"an eviction":               {fields{"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}, "; Pod last: the node was low on memory", nil},
		"no output with the option": {failed(ended("migrate", 3, 1, "Error", "hush")), `; Pod last: container "migrate" ended with exit code 3`, []jobs.Option{jobs.WithoutOutput()}},
	} {
		t.Run("jobs 15: a Job that has failed fails its component, with the Pod, the container, its exit code and "+reason, func(t *testing.T) {
			t.Parallel()
			h := heldShop(t, row.opts...)
			pod(t, h, "first", job1, failed(ended("migrate", 1, 0, "Error", "an earlier attempt")))
			pod(t, h, "last", job1, row.status)
			h.SetStatus(job1, failedJob)
			h.RunUntilSettled()
			assert.Equal(t, "component migrate: Job "+nameIn(job1)+": Failed (Job has reached the specified backoff limit)"+row.want, message(h))
			assert.Equal(t, "Errored", h.Condition("Shop tea", "Updating").Reason)
			h.Gone(web)
		})
	}
	t.Run("jobs 16: the newest failed Pod counts", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		pod(t, h, "a", job1, failed(ended("migrate", 1, 5, "Error", "the last attempt")))
		pod(t, h, "b", job1, failed(ended("migrate", 1, 4, "Error", "an earlier attempt")))
		pod(t, h, "c", "Job of this name that was deleted", failed(ended("migrate", 1, 9, "Error", "another Job")))
		h.SetStatus(job1, failedJob)
		h.RunUntilSettled()
		assert.Contains(t, message(h), "Pod a: container")
	})
	t.Run("jobs 16: while a Job tries again, the message has its last failure", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		pod(t, h, "a", job1, failed(ended("migrate", 1, 5, "Error", "no route")))
		h.SetStatus(job1, fields{"startTime": "2030-01-01T00:00:00Z", "failed": int64(1), "active": int64(1), "ready": int64(1)})
		h.RunUntilSettled()
		assert.Contains(t, message(h), `1 Pods have failed); Pod a: container "migrate" ended with exit code 1: no route`)
		assert.Equal(t, "VerifyWait", h.Condition("Shop tea", "Updating").Reason)
	})
	t.Run("jobs 16: a Job that is ended by its deadline has no Pod", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		h.SetStatus(job1, fields{"startTime": "2030-01-01T00:00:00Z", "failed": int64(1), "conditions": list{
			fields{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline"}}})
		h.RunUntilSettled()
		assert.Equal(t, "component migrate: Job "+nameIn(job1)+": Failed (Job was active longer than specified deadline)", message(h))
	})
}

func TestOutput(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ output, start, end string }{
		"long output":        {strings.Repeat("x", 4000) + "\nthe reason", "...xxx", "xxx | the reason"},
		"a cut in a letter":  {strings.Repeat("ü", 2000), "...ü", "üü"},
		"a letter more":      {"a" + strings.Repeat("ü", 2000), "...ü", "üü"},
		"control characters": {"\x1b[31mred\x1b[0m\tend\r\n\n\n", "[31mred", "end"},
	} {
		t.Run("jobs 17: the last 600 bytes of the output are in one line: "+reason, func(t *testing.T) {
			t.Parallel()
			h := heldShop(t)
			pod(t, h, "a", job1, failed(ended("migrate", 1, 5, "Error", row.output)))
			h.SetStatus(job1, failedJob)
			h.RunUntilSettled()
			_, output, found := strings.Cut(message(h), "exit code 1: ")
			assert.True(t, found)
			assert.LessOrEqual(t, len(output), 600)
			assert.True(t, strings.HasPrefix(strings.TrimSpace(output), row.start), output)
			assert.True(t, strings.HasSuffix(output, row.end), output)
			assert.NotContains(t, output, "\n")
		})
	}
}

func TestNotStarting(t *testing.T) {
	t.Parallel()
	waiting := fields{"phase": "Pending", "containerStatuses": list{
		fields{"name": "migrate", "state": fields{"waiting": fields{"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}}}}
	started := func(h *reconciletest.Harness) fields {
		return fields{"startTime": h.Now().UTC().Format(time.RFC3339), "active": int64(1), "ready": int64(0)}
	}
	t.Run("jobs 18: a Job that doesn't start is explained after ten seconds, without an event", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		pod(t, h, "a", job1, waiting)
		h.SetStatus(job1, started(h))
		h.Advance(9 * time.Second)
		assert.NotContains(t, message(h), "ImagePullBackOff")
		assert.Zero(t, podLists(h))
		h.Advance(2 * time.Second)
		assert.Contains(t, message(h), `; Pod a: container "migrate" waits: ImagePullBackOff: Back-off pulling image`)
		assert.Equal(t, "VerifyWait", h.Condition("Shop tea", "Updating").Reason)
		assert.Equal(t, 1, podLists(h))
	})
	t.Run("jobs 18: a Pod that starts slowly has nothing to report", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		pod(t, h, "a", job1, fields{"phase": "Pending", "containerStatuses": list{
			fields{"name": "migrate", "state": fields{"waiting": fields{"reason": "ContainerCreating"}}}}})
		h.SetStatus(job1, started(h))
		h.Advance(time.Minute)
		assert.NotContains(t, message(h), "Pod a")
	})
	t.Run("jobs 18: the Job of a new value says why the one before doesn't start", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		pod(t, h, "a", job1, waiting)
		h.SetStatus(job1, started(h))
		want(t, h, "2")
		h.Advance(time.Minute)
		assert.Contains(t, message(h), `for the value "1"; Pod a: container "migrate" waits: ImagePullBackOff`)
	})
	t.Run("jobs 19: Pods are read only when a Job fails or doesn't start", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		h.SetStatus(job1, running)
		h.Advance(time.Hour)
		assert.Zero(t, podLists(h))
		h.Release(job1)
		h.RunUntilSettled()
		assert.Zero(t, podLists(h))
		h.Ready("Shop tea")
	})
	t.Run("jobs 19: without the right to list Pods the message says so, and the rest is as before", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbList, Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Code: 403}))
		h.SetStatus(job1, failedJob)
		h.RunUntilSettled()
		assert.Contains(t, message(h), "Failed (Job has reached the specified backoff limit); its Pods can't be read: ")
	})
}

// podLists counts how often the latest run has listed Pods.
func podLists(h *reconciletest.Harness) (n int) {
	for _, call := range h.Calls() {
		if call.Ref.Kind.Kind == "Pod" {
			n++
		}
	}
	return n
}
