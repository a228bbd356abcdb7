package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var claims = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Claim"}

// Claim is the kind of the tests.
type Claim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size int    `json:"size,omitempty"`
		Mode string `json:"mode,omitempty"`
	} `json:"spec"`
	Status struct {
		Volume string `json:"volume,omitempty"`
	} `json:"status,omitempty"`
}

const small = `
apiVersion: example.dev/v1
kind: Claim
metadata: {name: small, labels: {tier: gold}}
spec: {size: 1, unknown: kept}`

// journal has the calls of handlers.
type journal struct{ lines []string }

func (j *journal) write(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// taken returns the calls since the last call of taken.
func (j *journal) taken() []string {
	lines := j.lines
	j.lines = nil
	return lines
}

// noting returns a handler that writes what it gets into the journal, and returns the next error of errs.
func (j *journal) noting(id string, errs ...error) handlers.Func[Claim] {
	return func(_ context.Context, r *handlers.Request[Claim]) error {
		line := fmt.Sprintf("%s %s", id, r.Cause)
		for _, change := range r.Diff {
			line += fmt.Sprintf(", %s", change)
		}
		j.write("%s", line)
		if len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

func drive(t *testing.T, h *handlers.Handlers[Claim]) *reconciletest.Harness {
	return reconciletest.Drive(t, h)
}

func edit(h *reconciletest.Harness, fields ...any) {
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		for i := 0; i < len(fields); i += 2 {
			if err := unstructured.SetNestedField(obj.Object, fields[i+1], "spec", fields[i].(string)); err != nil {
				panic(err)
			}
		}
	})
}

func TestLife(t *testing.T) {
	t.Run("handlers 22: each cause calls its handlers in the order of registration", testLife)
}

func testLife(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "create", j.noting("create"))
	c.On(handlers.Update, "update", j.noting("update"))
	c.On(handlers.Resume, "resume", j.noting("resume"))
	c.On(handlers.Delete, "delete", j.noting("delete"))
	c.Field("spec.size", "grow", j.noting("grow"))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	assert.Equal(t, []string{"create create"}, j.taken())
	h.Writes(2) // the finalizer, and the record
	assert.Equal(t, []string{"operkit.dev/operkit"}, h.Get("Claim small").GetFinalizers())

	h.RunUntilSettled()
	h.Writes(0)

	edit(h, "size", int64(2))
	h.RunUntilSettled()
	assert.Equal(t, []string{"update update, change .spec.size: 1 -> 2", "grow update, change .: 1 -> 2"}, j.taken())
	h.Writes(2) // the progress of the first handler, and the record

	edit(h, "mode", "fast")
	h.RunUntilSettled()
	assert.Equal(t, []string{"update update, add .spec.mode: fast"}, j.taken(), "the field hasn't changed")
	h.Writes(1)

	h.Restart()
	h.RunUntilSettled()
	assert.Equal(t, []string{"resume resume"}, j.taken())
	h.Writes(0)

	h.SetStatus("Claim small", map[string]any{"volume": "v"})
	h.RunUntilSettled()
	assert.Empty(t, j.taken(), "the status is no part of the essence")
	h.Writes(0)

	h.Delete("Claim small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"delete delete"}, j.taken())
	h.Writes(1)
	h.Gone("Claim small")
}

func TestRetries(t *testing.T) {
	t.Run("handlers 22: one that fails doesn't stop the others, and a restart repeats none", testRetries)
}

func testRetries(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	boom := errors.New("boom")
	c.On(handlers.Create, "first", j.noting("first", boom, request.RetryAfter(10*time.Second, boom)), handlers.Backoff(5*time.Second))
	c.On(handlers.Create, "second", j.noting("second"))
	c.On(handlers.Create, "third", j.noting("third", request.Permanent(boom)))
	c.On(handlers.Create, "fourth", j.noting("fourth", boom, boom, boom), handlers.MaxAttempts(2), handlers.Backoff(time.Hour))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, []string{"first create", "second create", "third create", "fourth create"}, j.taken())
	h.Restart()
	h.Advance(0)
	assert.Empty(t, j.taken(), "a restart repeats nothing, and shortens no wait")
	h.Writes(0)
	h.Advance(5 * time.Second)
	assert.Equal(t, []string{"first create"}, j.taken())
	h.Advance(9 * time.Second)
	assert.Empty(t, j.taken())
	h.Advance(time.Second)
	assert.Equal(t, []string{"first create"}, j.taken())
	h.Advance(time.Hour)
	assert.Equal(t, []string{"fourth create"}, j.taken(), "its second and last attempt")
	h.Advance(3 * time.Hour)
	assert.Empty(t, j.taken())
	h.Advance(0)
	h.Writes(0)
}

func TestUpdateAndResult(t *testing.T) {
	t.Run("handlers 29: a pass costs one write of the status, and unknown fields stay", testUpdateAndResult)
}

func testUpdateAndResult(t *testing.T) {
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "made", func(ctx context.Context, r *handlers.Request[Claim]) error {
		if err := r.Apply(ctx, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": r.Object.Name}, "data": map[string]any{"a": "b"},
		}); err != nil {
			return err
		}
		r.Update(func(c *Claim) { c.Status.Volume = c.Name })
		return r.Result(map[string]any{"size": r.Object.Spec.Size})
	}, handlers.Reports("Claimed"))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Created("ConfigMap small")
	h.Writes(3) // the object, the status, the record
	status := h.Get("Claim small").Object["status"].(map[string]any)
	assert.Equal(t, "small", status["volume"])
	assert.Equal(t, map[string]any{"size": int64(1)}, status["made"])
	assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Claimed").Status)
	spec := h.Get("Claim small").Object["spec"].(map[string]any)
	assert.Equal(t, "kept", spec["unknown"])
}

func TestSteps(t *testing.T) {
	t.Run("handlers 30: only the step that failed is repeated", testSteps)
}

func testSteps(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	fails := 1
	c.On(handlers.Create, "all", func(ctx context.Context, r *handlers.Request[Claim]) error {
		var errs []error
		for _, name := range []string{"a", "b", "c"} {
			errs = append(errs, r.Step(ctx, name, func(context.Context) error {
				j.write("%s", name)
				if name == "b" && fails > 0 {
					fails--
					return errors.New("not yet")
				}
				return nil
			}))
		}
		return errors.Join(errs...)
	})
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, []string{"a", "b", "c"}, j.taken())
	h.Advance(time.Minute)
	assert.Equal(t, []string{"b"}, j.taken(), "only the step that failed is repeated")
	h.RunUntilSettled()
	h.Writes(0)
}

func TestSeen(t *testing.T) {
	t.Run("handlers 32: each event once, in order", testSeen)
}

func testSeen(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.Seen("all", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("%s %s", r.Event, r.Object.Name)
		return errors.New("it isn't repeated")
	})
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "size", int64(2))
	h.SetStatus("Claim small", map[string]any{"volume": "v"})
	h.RunUntilSettled()
	h.Delete("Claim small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"ADDED small", "MODIFIED small", "MODIFIED small", "DELETED small"}, j.taken())
	h.Writes(0)
}

func TestDelete(t *testing.T) {
	t.Run("handlers 96: a handler deletes its object, and no other one of its name", func(t *testing.T) {
		var h *reconciletest.Harness
		c := handlers.New[Claim](claims)
		c.On(handlers.Create, "replace", func(ctx context.Context, r *handlers.Request[Claim]) error {
			if r.Object.Spec.Size > 1 {
				return nil
			}
			h.Delete("Claim small")
			require.NoError(t, r.Delete(ctx), "it is gone")
			h.Apply("{apiVersion: example.dev/v1, kind: Claim, metadata: {name: small}, spec: {size: 2}}")
			return r.Delete(ctx)
		})
		h = drive(t, c)
		h.Apply(small)
		h.RunUntilSettled()
		assert.EqualValues(t, 2, h.Get("Claim small").Object["spec"].(map[string]any)["size"])
		h.Deleted()
	})
}
