package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What passes by itself is tried again, and told only when it has come back several times.
func TestPassing(t *testing.T) {
	t.Parallel()
	broken := errors.New("the helper has ended")
	for reason, row := range map[string]struct {
		controller Controller
		class      string
	}{
		"Setup":     {&controller{func(context.Context, *Session) error { return request.Passing(broken) }}, "setup: the helper has ended"},
		"Build":     {adding(func(s *Session) { s.Use("c", failing{request.Passing(broken)}) }), "component c: build: the helper has ended"},
		"a gate":    {gated(request.Passing(broken)), "component b: gate on component a: the helper has ended"},
		"readiness": {judged(request.Passing(broken)), "component c: ConfigMap a: the helper has ended"},
		"a contents": {adding(func(s *Session) {
			s.Add("c", Deferred{deploy.Ref{Kind: configMaps, Name: "a"}, "1", failing{request.Passing(broken)}.content})
		}), "its content: the helper has ended"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := w.reconciler(row.controller, MaxAttempts(1))
			for attempt := range 5 {
				req := widgetRequest
				req.Attempt = attempt
				w.forget()
				_, err := r.Reconcile(t.Context(), req)
				require.ErrorIs(t, err, broken)
				assert.ErrorContains(t, err, row.class)
				assert.False(t, request.IsPermanent(err), "it counts for nothing")
				after, _ := request.RetryTime(err)
				if attempt < quietAttempts {
					assert.NotContains(t, w.made(), writeStatus, "attempt %d", attempt)
					assert.True(t, request.Resolve(err).Quiet)
					assert.Equal(t, lookAgain, after)
				} else {
					assert.Equal(t, "Errored/Errored", w.verdict(), "attempt %d", attempt)
					assert.Contains(t, w.message(), row.class)
					assert.False(t, request.Resolve(err).Quiet)
				}
			}
		})
	}
	t.Run("it may say when", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(&controller{func(context.Context, *Session) error {
			return request.RetryAfter(7*time.Second, request.Passing(broken))
		}}))
		after, ok := request.RetryTime(err)
		assert.True(t, ok)
		assert.Equal(t, 7*time.Second, after)
	})
	t.Run("beside something that doesn't pass it is told", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(adding(func(s *Session) {
			s.Use("a", failing{request.Passing(broken)})
			s.Use("b", failing{request.Configuration("spec.size is odd")})
		})))
		require.Error(t, err)
		assert.Equal(t, "Errored/Errored", w.verdict())
		assert.Contains(t, w.message(), "the helper has ended")
	})
}

// failing is a Builder that fails.
type failing struct{ err error }

func (f failing) Build(context.Context, *Session, *Component) error { return f.err }

func gated(err error) Controller {
	return adding(func(s *Session) {
		s.Add("b", configMap("b")).After(s.Add("a", configMap("a")), func(context.Context, *Component) (bool, error) { return false, err })
	})
}

func TestVerbatim(t *testing.T) {
	t.Parallel()
	said := &request.Error{Verbatim: true, Err: request.Configuration("version 1.0.0: spec.size is odd")}
	w := newWorld(t)
	_, _, err := w.once(w.reconciler(&controller{func(context.Context, *Session) error { return said }}))
	require.EqualError(t, err, "version 1.0.0: spec.size is odd")
	assert.Equal(t, "ConfigError/Errored", w.verdict())
	_, _, err = w.once(w.reconciler(adding(func(s *Session) { s.Use("c", failing{said}) })))
	require.EqualError(t, err, "component c: version 1.0.0: spec.size is odd")
	f := &finalizing{finalize: func(context.Context, *Session) error { return said }}
	w.calm(w.reconciler(f))
	w.delete(widgetRef)
	_, _, err = w.once(w.reconciler(f))
	require.EqualError(t, err, "version 1.0.0: spec.size is odd")
}

func (f failing) content(context.Context) (*unstructured.Unstructured, error) { return nil, f.err }

func judged(err error) Controller {
	return adding(func(s *Session) {
		s.Add("c").Add("a", configMap("a"), ReadyWhen(func(context.Context, *unstructured.Unstructured) error { return err }))
	})
}
