package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestSetStatus(t *testing.T) {
	t.Parallel()
	t.Run("fields 1: in the one write of the status, and none when nothing changes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		endpoint := any("db:5432")
		r := w.reconciler(adding(func(s *Session) {
			s.Add("c", configMap("c"))
			s.SetStatus("database.endpoint", endpoint)
			s.SetStatus("rooms", []string{"kitchen"})
		}))
		assert.Equal(t, 1, count(w.calm(r), writeStatus))
		assert.Equal(t, "db:5432", w.status("database", "endpoint"))
		assert.Equal(t, []any{"kitchen"}, w.status("rooms"))
		assert.Equal(t, "Stable/Stable", w.verdict())
		assert.Empty(t, w.calm(r), "an unchanged field costs no call")

		endpoint = "other:5432"
		assert.Equal(t, 1, count(w.calm(r), writeStatus))
		assert.Equal(t, "other:5432", w.status("database", "endpoint"))
		endpoint = nil
		assert.Equal(t, 1, count(w.calm(r), writeStatus))
		assert.Nil(t, w.status("database", "endpoint"))
	})
	t.Run("fields 2: a field keeps its value until it is set again", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.mergeStatus(widgetRef, `{"status":{"theirs":"stays"}}`)
		w.calm(w.reconciler(adding(func(s *Session) { s.SetStatus("mine", 1) })))
		assert.Empty(t, w.calm(w.reconciler(adding(func(*Session) {}))))
		assert.Equal(t, int64(1), w.status("mine"))
		assert.Equal(t, "stays", w.status("theirs"))
	})
	t.Run("fields 3: set by components and hooks, from many goroutines", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(&verifying{controller{func(_ context.Context, s *Session) error {
			for _, name := range []string{"a", "b", "c"} {
				s.Use(name, &built{func(_ context.Context, s *Session, c *Component) error {
					s.SetStatus("built."+name, true)
					c.Add("", configMap(name), ReadyWhen(func(context.Context, *unstructured.Unstructured) error {
						s.SetStatus("judged."+name, true)
						return nil
					}))
					return nil
				}})
			}
			return nil
		}}})
		assert.Equal(t, 1, count(w.calm(r), writeStatus))
		for _, name := range []string{"a", "b", "c"} {
			assert.Equal(t, true, w.status("built", name))
			assert.Equal(t, true, w.status("judged", name))
		}
		assert.Equal(t, "yes", w.status("verified"))
	})
	for name, ends := range map[string]func() error{
		"fields 4: what was set is written after an error": func() error { return errNo },
		"fields 4: and after a panic":                      func() error { panic("out of cheese") },
		"fields 4: and while the resource waits":           func() error { return request.Precondition("not yet") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, _ = w.once(w.reconciler(&controller{func(_ context.Context, s *Session) error {
				s.SetStatus("endpoint", "db")
				return ends()
			}}))
			assert.Equal(t, "db", w.status("endpoint"))
		})
	}
	t.Run("with only the condition Ready", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.SetStatus("endpoint", "db") }), Status(OnlyReady))
		w.calm(r)
		assert.Equal(t, "db", w.status("endpoint"))
		assert.Empty(t, w.calm(r))
	})
	t.Run("in a dry run nothing is written", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, err := w.reconciler(adding(func(s *Session) { s.SetStatus("endpoint", "db") })).Plan(t.Context(), w.widget())
		require.NoError(t, err)
		assert.Nil(t, w.status("endpoint"))
	})
}

// verifying sets a field when all components are ready.
type verifying struct{ controller }

func (*verifying) AfterVerify(_ context.Context, s *Session, _ Outcome) error {
	s.SetStatus("verified", "yes")
	return nil
}

// late sets a field when the status was written.
type late struct{ controller }

func (*late) Requeue(_ context.Context, s *Session, _ Outcome) (time.Duration, error) {
	s.SetStatus("endpoint", "db")
	return 0, nil
}

func TestSetStatusInvalid(t *testing.T) {
	t.Parallel()
	setting := func(path string, value any) Controller {
		return adding(func(s *Session) {
			s.Add("c", configMap("c"))
			s.SetStatus("good", "yes")
			s.SetStatus(path, value)
		})
	}
	for _, row := range []struct {
		reason     string
		controller Controller
		want       string
		options    []Option
	}{
		{"fields 5: a field of the framework", setting("conditions", nil), "status field conditions: invalid path: conditions is written by operkit itself", nil},
		{"fields 5: no path", setting("a..b", 1), `status field "a..b": invalid path`, nil},
		{"fields 5: no value", setting("f", func() {}), "status field f: invalid value: json: unsupported type: func()", nil},
		{"fields 5: too late", &late{controller{}}, "status field endpoint: it is set after the status was written: set it earlier, in a hook other than Requeue", nil},
		{"fields 5: no status", setting("f", 1), "status field f: the option NoStatus leaves the status alone", []Option{Status(NoStatus)}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, err := w.once(w.reconciler(row.controller, row.options...))
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, status.ErrorRollout, request.ClassOf(err))
			if _, isLate := row.controller.(*late); isLate || len(row.options) > 0 {
				return
			}
			assert.Contains(t, w.message(), row.want)
			assert.Equal(t, "yes", w.status("good"), "other fields are written")
		})
	}
}

// A schema that refuses a field must not hide the rest of the status.
func TestSetStatusRefused(t *testing.T) {
	t.Parallel()
	t.Run("fields 6: a refused field is an error, and the rest is written", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		refusal := &deploy.InvalidError{Ref: widgetRef, Err: errors.New(`status.endpoint: Invalid value: "string": must be of type integer`)}
		writes := 0
		w.refuse = func(call string) error {
			if call != writeStatus {
				return nil
			}
			if writes++; writes > 1 { // the second write is without the field
				return nil
			}
			return refusal
		}
		_, _, err := w.once(w.reconciler(adding(func(s *Session) {
			s.Add("c", configMap("c"))
			s.SetStatus("endpoint", "db")
		})))
		require.ErrorContains(t, err, "status fields endpoint: ")
		require.ErrorContains(t, err, "must be of type integer")
		assert.Equal(t, "Errored/Errored", w.verdict(), "fields 6: a refused field is an error, and the rest is written")
		assert.Contains(t, w.message(), "must be of type integer")
		assert.Nil(t, w.status("endpoint"))
	})
}
