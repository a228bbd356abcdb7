package reconcile

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reporting is a controller with conditions of its own.
type reporting struct {
	controller
	own []status.Declared
}

func (r *reporting) Conditions() (*status.Declaration, error) { return status.Declare(r.own...) }

// backed returns a controller that declares BackedUp and Exported, and the Setup of a test.
func backed(setup func(ctx context.Context, s *Session) error) *reporting {
	return &reporting{controller{setup}, []status.Declared{{Type: "BackedUp", Errors: []status.ErrorReason{status.ErrorIs(errNo, "DiskFull")}}, {Type: "Exported", Reset: true}}}
}

func TestOwnConditions(t *testing.T) {
	t.Parallel()
	states := func(w *world) [2]string {
		backup, export := w.condition("BackedUp"), w.condition("Exported")
		return [2]string{string(backup.Status) + " " + backup.Reason, string(export.Status) + " " + export.Reason}
	}
	t.Run("conditions 2: at the first visit they are Unknown, and with what is set then they settle", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(backed(func(_ context.Context, s *Session) error {
			s.Conditions().Set("Exported", metav1.ConditionTrue, "AtNight", "to the other side")
			s.Add("c", configMap("c"))
			return nil
		}))
		calls := w.calm(r)
		assert.Equal(t, 1, count(calls, writeStatus), "in the one write of the status")
		assert.Equal(t, [2]string{"Unknown Initializing", "True AtNight"}, states(w))
		assert.Equal(t, w.widget().GetGeneration(), w.condition("Exported").ObservedGeneration)
		assert.Equal(t, "Stable/Stable", w.verdict(), "beside those of every resource")
		assert.Empty(t, w.calm(r))
	})
	t.Run("conditions 3: in the middle of long work they are written on request", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		exported := "yes"
		r := w.reconciler(backed(func(ctx context.Context, s *Session) error {
			s.Conditions().Set("BackedUp", metav1.ConditionFalse, "Running", "half of it")
			if err := s.Conditions().Flush(ctx); err != nil {
				return err
			}
			assert.Equal(t, "False Running", states(w)[0], "somebody else sees it")
			assert.NotEqual(t, "Unknown NotReported", states(w)[1], "what isn't reported yet is no news")
			if exported != "" {
				s.Conditions().Set("Exported", metav1.ConditionTrue, "AtNight", "")
			}
			s.Conditions().Result("BackedUp", nil)
			return nil
		}))
		w.calm(r)
		assert.Equal(t, [2]string{"True Succeeded", "True AtNight"}, states(w))
		exported = ""
		w.calm(r)
		assert.Equal(t, [2]string{"True Succeeded", "Unknown NotReported"}, states(w), "at the end it is")
	})
	for name, row := range map[string]struct {
		ends func() error
		want string
	}{
		"conditions 3: what was set is written after an error": {func() error { return errNo }, "False DiskFull"},
		"conditions 3: and after a panic":                      {func() error { panic("out of cheese") }, "False DiskFull"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, err := w.once(w.reconciler(backed(func(_ context.Context, s *Session) error {
				s.Conditions().Result("BackedUp", errNo)
				return row.ends()
			})))
			require.Error(t, err)
			assert.Equal(t, row.want, states(w)[0])
		})
	}
	t.Run("conditions of others stay", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.mergeStatus(widgetRef, `{"status":{"conditions":[{"type":"Theirs","status":"True","reason":"Said","message":"so"}]}}`)
		w.calm(w.reconciler(backed(func(context.Context, *Session) error { return nil })))
		assert.Equal(t, "Said", w.condition("Theirs").Reason)
	})
	t.Run("a type that isn't declared", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(backed(func(_ context.Context, s *Session) error {
			s.Conditions().Set("Painted", metav1.ConditionTrue, "Red", "")
			return nil
		})))
		assert.ErrorContains(t, err, `"Painted" isn't declared`)
		assert.Contains(t, w.condition(status.ConditionUpdating).Message, `"Painted" isn't declared`)
	})
	t.Run("a controller without any", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.calm(w.reconciler(adding(func(s *Session) {
			s.Conditions().Set("BackedUp", metav1.ConditionTrue, "Done", "")
			assert.NoError(t, s.Conditions().Flush(t.Context()))
		})))
		assert.Empty(t, w.condition("BackedUp"))
	})
	for name, row := range map[string]struct {
		own     []status.Declared
		options []Option
		want    string
	}{
		"conditions 4: declared twice":          {[]status.Declared{{Type: "A"}, {Type: "A"}}, nil, "conditions: declared conditions: A is declared twice"},
		"conditions 4: one that operkit writes": {[]status.Declared{{Type: "Ready"}}, nil, "conditions: Ready is written by operkit itself: choose another type"},
		"no status":                             {[]status.Declared{{Type: "A"}}, []Option{Status(NoStatus)}, "conditions: they are part of the status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(&reporting{controller{}, row.own}, must(deploy.NewManager(newWorld(t))), row.options...)
			assert.ErrorContains(t, err, row.want)
		})
	}
}
