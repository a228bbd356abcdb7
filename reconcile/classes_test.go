package reconcile

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var allClasses = []ErrorClass{WaitsForPrecondition, WaitsForReadiness, OfCluster, OfConfiguration, OfRollout, OfOperator}

func TestClasses(t *testing.T) {
	t.Parallel()
	for _, of := range allClasses {
		for reason, err := range map[string]error{
			"plain": errors.New("no"), "of another class": Configuration("no"), "of a type": &deploy.NotFoundError{Err: errors.New("no")},
			"of several": errors.Join(Precondition("no"), Configuration("no")), "a panic": &dag.PanicError{Value: "no"},
		} {
			got := WithClass(of, err)
			assert.Equal(t, of, ClassOf(got), "%s: %s", of, reason)
			assert.Equal(t, of, ClassOf(fmt.Errorf("component web: %w", got)), "%s, wrapped: %s", of, reason)
			assert.Equal(t, err.Error(), got.Error())
			assert.ErrorIs(t, got, err)
			for _, outer := range allClasses {
				assert.Equal(t, outer, ClassOf(WithClass(outer, got)), "the outermost decides")
			}
		}
		assert.NoError(t, WithClass(of, nil))
	}
	for i, milder := range allClasses {
		for _, more := range allClasses[i:] {
			joined := errors.Join(WithClass(milder, errors.New("a")), WithClass(more, errors.New("b")))
			assert.Equal(t, more, ClassOf(joined), "of joined ones the most severe")
		}
	}
	err := errors.New("no")
	assert.Equal(t, err, WithClass("", err), "no class changes nothing")
	assert.Equal(t, err, WithClass("weather", err), "nor does one that there isn't")
	assert.Equal(t, OfOperator, ClassOf(err))
	assert.Equal(t, ErrorClass(""), ClassOf(nil))
	assert.Equal(t, WaitsForPrecondition, ClassOf(Precondition("no")))
	assert.Equal(t, OfConfiguration, ClassOf(Configuration("no")))
}

func TestIsPassing(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	stale := &deploy.StaleError{Err: no}
	for reason, row := range map[string]struct {
		err  error
		want bool
	}{
		"no error": {nil, false}, "any": {no, false}, "one that is marked": {Passing(no), true}, "somebody was quicker": {stale, true},
		"wrapped": {fmt.Errorf("x: %w", Passing(no)), true}, "marked otherwise, too": {request.RetryAfter(time.Second, Passing(no)), true},
		"all of several": {errors.Join(Passing(no), stale), true}, "one of several": {errors.Join(Passing(no), no), false},
		"a precondition": {Precondition("no"), false}, "with a class": {WithClass(OfCluster, Passing(no)), true}, "none of several": {joinedNone{}, false},
	} {
		assert.Equal(t, row.want, IsPassing(row.err), reason)
	}
	assert.NoError(t, Passing(nil))
	assert.EqualError(t, Passing(no), "no")
	assert.ErrorIs(t, Passing(no), no)
}

// joinedNone joins nothing.
type joinedNone struct{}

func (joinedNone) Error() string   { return "none" }
func (joinedNone) Unwrap() []error { return nil }

// What passes by itself is tried again, and told only when it has come back several times.
func TestPassing(t *testing.T) {
	t.Parallel()
	broken := errors.New("the helper has ended")
	for reason, row := range map[string]struct {
		controller Controller
		class      string
	}{
		"Setup":     {&controller{func(context.Context, *Session) error { return Passing(broken) }}, "setup: the helper has ended"},
		"Build":     {adding(func(s *Session) { s.Use("c", failing{Passing(broken)}) }), "component c: build: the helper has ended"},
		"a gate":    {gated(Passing(broken)), "component b: gate on component a: the helper has ended"},
		"readiness": {judged(Passing(broken)), "component c: ConfigMap a: the helper has ended"},
		"a contents": {adding(func(s *Session) {
			s.Add("c", Deferred{deploy.Ref{Kind: configMaps, Name: "a"}, "1", failing{Passing(broken)}.content})
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
					assert.True(t, request.IsQuiet(err))
					assert.Equal(t, lookAgain, after)
				} else {
					assert.Equal(t, "Errored/Errored", w.verdict(), "attempt %d", attempt)
					assert.Contains(t, w.message(), row.class)
					assert.False(t, request.IsQuiet(err))
				}
			}
		})
	}
	t.Run("it may say when", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(&controller{func(context.Context, *Session) error { return request.RetryAfter(7*time.Second, Passing(broken)) }}))
		after, ok := request.RetryTime(err)
		assert.True(t, ok)
		assert.Equal(t, 7*time.Second, after)
	})
	t.Run("beside something that doesn't pass it is told", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(adding(func(s *Session) {
			s.Use("a", failing{Passing(broken)})
			s.Use("b", failing{Configuration("spec.size is odd")})
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
	said := Verbatim(Configuration("version 1.0.0: spec.size is odd"))
	assert.NoError(t, Verbatim(nil))
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
