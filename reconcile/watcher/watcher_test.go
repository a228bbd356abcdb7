package watcher_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var buckets = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Bucket"}

// Bucket is the kind of the tests.
type Bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size int `json:"size,omitempty"`
	} `json:"spec"`
}

const small = `
apiVersion: example.dev/v1
kind: Bucket
metadata: {name: small}
spec: {size: 1}`

type unstructuredObject = unstructured.Unstructured

const own = "example.dev/cloud"

// journal has the calls of watchers, with the times since its start.
type journal struct {
	lines []string
	now   func() time.Time
	start time.Time
}

func (j *journal) write(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if j.now != nil {
		line = fmt.Sprintf("%s %s", j.now().Sub(j.start), line)
	}
	j.lines = append(j.lines, line)
}

// taken returns the calls since the last call of taken.
func (j *journal) taken() []string {
	lines := j.lines
	j.lines = nil
	return lines
}

// funcs returns functions that write their calls into the journal, and return the errors of fails, by function and one
// after the other.
func (j *journal) funcs(name string, fails map[string]int) watcher.Funcs[Bucket] {
	note := func(what, text string) error {
		err := error(nil)
		if fails[what] != 0 {
			fails[what]--
			text += " fails"
			err = errors.New("boom")
		}
		j.write("%s %s %s", name, what, text)
		return err
	}
	size := func(b *Bucket) string { return fmt.Sprint(b.Spec.Size) }
	return watcher.Funcs[Bucket]{
		Add:    func(_ context.Context, b *Bucket) error { return note("add", size(b)) },
		Update: func(_ context.Context, old, b *Bucket) error { return note("update", size(old)+"->"+size(b)) },
		Delete: func(_ context.Context, b *Bucket) error { return note("delete", size(b)) },
		Sync:   func(_ context.Context, b *Bucket) error { return note("sync", size(b)) },
	}
}

func drive(t *testing.T, j *journal, opts ...watcher.Option) *reconciletest.Harness {
	h := reconciletest.Drive(t, watcher.New[Bucket](buckets, opts...))
	j.now, j.start = h.Now, h.Now()
	return h
}

func resize(h *reconciletest.Harness, size int64) {
	h.Edit("Bucket small", func(obj *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(obj.Object, size, "spec", "size"); err != nil {
			panic(err)
		}
	})
}

// label sets a label of the bucket.
func label(h *reconciletest.Harness, value string) {
	h.Edit("Bucket small", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"tier": value}) })
}

func TestLife(t *testing.T) {
	t.Run("watcher 1: watchers are called in the order in which they were added, reconcilers after them", testLife)
}

func testLife(t *testing.T) {
	var j journal
	h := drive(t, &j,
		watcher.AddReconciler("quota", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
			j.write("quota %s %d", r.Action, r.Object.Spec.Size)
			return watcher.Result{}, nil
		}),
		watcher.Add("cloud", watcher.Opinionate(j.funcs("cloud", nil), watcher.Finalizer(own), watcher.InProgress())),
		watcher.Add("audit", watcher.Simple(j.funcs("audit", nil))))
	j.now = nil
	h.Apply(small)
	h.RunUntilSettled()
	assert.Equal(t, []string{"cloud add 1", "audit add 1", "quota CREATE 1"}, j.taken())
	h.Writes(2) // the finalizer for the time of Add, and the one after it
	h.RunUntilSettled()
	h.Writes(0)
	resize(h, 2)
	h.RunUntilSettled()
	assert.Equal(t, []string{"cloud update 1->2", "audit update 1->2", "quota UPDATE 2"}, j.taken())
	h.Writes(0)
	h.Restart()
	h.RunUntilSettled()
	assert.Equal(t, []string{"cloud sync 2", "audit add 2", "quota CREATE 2"}, j.taken())
	h.Writes(0)
	h.Delete("Bucket small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"cloud delete 2", "audit update 2->2", "quota UPDATE 2", "audit delete 2", "quota DELETE 2"}, j.taken())
	h.Writes(1)
	h.Gone("Bucket small")
}
