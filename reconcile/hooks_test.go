package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hooking is a controller with every hook of a rollout; each notes that it was called and answers its error.
type hooking struct {
	controller
	called  []string
	answers map[string]error
}

func (h *hooking) call(name string) error {
	h.called = append(h.called, name)
	if h.answers[name] != nil && h.answers[name].Error() == "panic" {
		panic("in " + name)
	}
	return h.answers[name]
}

func (h *hooking) AfterDeploy(context.Context, *Session, Outcome) error { return h.call("AfterDeploy") }
func (h *hooking) AfterVerify(context.Context, *Session, Outcome) error { return h.call("AfterVerify") }

func (h *hooking) AfterIncomplete(_ context.Context, _ *Session, o Outcome) error {
	name := map[bool]string{true: "AfterIncomplete of the verification", false: "AfterIncomplete of the deployment"}[o.Deployed()]
	if o.Err() != nil {
		name += " failed"
	}
	return h.call(name)
}

func TestHooks(t *testing.T) {
	t.Parallel()
	waiting, broken := request.Precondition("not yet"), errors.New("broken")
	for reason, row := range map[string]struct {
		deploy, verify error
		answers        map[string]error
		called         []string
		verdict        string
		err            string
	}{
		"reconcile 21, 29, 31, dag 39: all is well": {called: []string{"AfterDeploy", "AfterVerify"}, verdict: "Stable/Stable"},
		"reconcile 28, 29, dag 39: a component waits before its deployment": {deploy: waiting, called: []string{"AfterIncomplete of the deployment"},
			verdict: "Initializing/PreconditionWait"},
		"reconcile 29: a component fails": {deploy: broken, called: []string{"AfterIncomplete of the deployment failed"},
			verdict: "Errored/Errored", err: "component c: broken"},
		"reconcile 31: a component isn't ready": {verify: waiting, called: []string{"AfterDeploy", "AfterIncomplete of the verification"}, verdict: "Initializing/VerifyWait"},
		"reconcile 31: a component isn't ready for good": {verify: broken, called: []string{"AfterDeploy", "AfterIncomplete of the verification failed"},
			verdict: "Errored/Errored", err: "component c: broken"},
		"reconcile 29: a hook that waits": {answers: map[string]error{"AfterDeploy": waiting}, called: []string{"AfterDeploy"},
			verdict: "Initializing/PreconditionWait"},
		"reconcile 29: a hook that fails": {answers: map[string]error{"AfterDeploy": broken}, called: []string{"AfterDeploy"},
			verdict: "Errored/Errored", err: "after the deployment: broken"},
		"reconcile mistake 7: the last hook waits": {answers: map[string]error{"AfterVerify": waiting}, called: []string{"AfterDeploy", "AfterVerify"},
			verdict: "Initializing/PreconditionWait"},
		"reconcile 31: the last hook fails": {answers: map[string]error{"AfterVerify": broken}, called: []string{"AfterDeploy", "AfterVerify"},
			verdict: "Errored/Errored", err: "after the verification: broken"},
		"a hook's panic is an error": {answers: map[string]error{"AfterVerify": errors.New("panic")}, called: []string{"AfterDeploy", "AfterVerify"},
			verdict: "Errored/Errored", err: "after the verification: panic: in AfterVerify (hooks_test.go)"},
		"reconcile 32, dag 40: both errors are told, the component's first": {deploy: broken, answers: map[string]error{"AfterIncomplete of the deployment failed": errors.New("and this")},
			called: []string{"AfterIncomplete of the deployment failed"}, verdict: "Errored/Errored", err: "component c: broken\nafter the incomplete rollout: and this"},
		"reconcile mistake 3: waiting hides no failure": {deploy: broken, answers: map[string]error{"AfterIncomplete of the deployment failed": waiting},
			called: []string{"AfterIncomplete of the deployment failed"}, verdict: "Errored/Errored", err: "component c: broken\nafter the incomplete rollout: not yet"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			h := &hooking{answers: row.answers}
			h.setup = func(_ context.Context, s *Session) error {
				way := &particular{built: *building("a"), note: func(string) {}, deploy: row.deploy, verify: row.verify}
				s.Use("c", way)
				return nil
			}
			_, _, err := w.once(w.reconciler(h))
			assert.Equal(t, row.called, h.called, "reconcile mistake 5: each once")
			assert.Equal(t, row.verdict, w.verdict())
			if row.err == "" {
				assert.NoError(t, err)
			} else {
				require.Error(t, err)
				assert.Equal(t, row.err, testlog.WithoutLines(err.Error()))
			}
		})
	}
}

type wrongHook struct{ controller }

func (*wrongHook) AfterVerify(*Session) (bool, error) { return true, nil }

type wrongFinalize struct{ controller }

func (*wrongFinalize) Finalize(*Session) {}

func TestHookMistakes(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 21: a hook with another signature is refused, with the right one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for want, c := range map[string]Controller{
			"*reconcile.wrongHook: its method AfterVerify is (*reconcile.Session) (bool, error): make it (context.Context, *reconcile.Session, reconcile.Outcome) error": &wrongHook{},
			"*reconcile.wrongFinalize: its method Finalize is (*reconcile.Session): make it (context.Context, *reconcile.Session) error":                                 &wrongFinalize{},
		} {
			_, err := New(c, must(deploy.NewManager(w)))
			assert.EqualError(t, err, want)
		}
	})
}

// requeueing is a controller that says by itself when to look again.
type requeueing struct {
	controller
	after time.Duration
	err   error
}

func (r *requeueing) Requeue(context.Context, *Session, Outcome) (time.Duration, error) {
	return r.after, r.err
}

var errNo = errors.New("no")

func TestRequeue(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		controller requeueing
		want       time.Duration
		err        error
	}{
		"reconcile 23: its time":                   {requeueing{after: 5 * time.Second}, 5 * time.Second, nil},
		"reconcile 23: none of its own":            {requeueing{}, 10 * time.Minute, nil},
		"none at all":                              {requeueing{after: -1}, 0, nil},
		"reconcile 23: an error is the resource's": {requeueing{err: errNo}, 0, errNo},
		"an error that only waits":                 {requeueing{err: request.Precondition("no")}, time.Minute, nil},
		"and says how long":                        {requeueing{err: request.RetryAfter(time.Hour, request.Precondition("no"))}, time.Hour, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, result, err := w.once(w.reconciler(&row.controller))
			assert.Equal(t, row.want, result.RequeueAfter)
			require.ErrorIs(t, err, row.err)
		})
	}
}

// requeueingHooks is a controller with all hooks.
type requeueingHooks struct {
	hooking
	err error
}

func (r *requeueingHooks) Requeue(context.Context, *Session, Outcome) (time.Duration, error) {
	return 0, r.err
}

// Of all times that are asked for, the soonest counts.
func TestSoonestOfAllTimes(t *testing.T) {
	t.Parallel()
	not := request.Precondition("not yet")
	in := func(after time.Duration) error { return request.RetryAfter(after, not) }
	for reason, row := range map[string]struct {
		deploy, verify, hook, requeue error
		want                          time.Duration
	}{
		"a component waits, and the hook for long":       {deploy: not, hook: in(time.Hour), want: time.Minute},
		"a component asks, and the hook merely waits":    {deploy: in(5 * time.Second), hook: not, want: 5 * time.Second},
		"both ask, the component sooner":                 {deploy: in(5 * time.Second), hook: in(time.Hour), want: 5 * time.Second},
		"both ask, the hook sooner":                      {deploy: in(time.Hour), hook: in(5 * time.Second), want: 5 * time.Second},
		"both for long":                                  {deploy: in(2 * time.Hour), hook: in(time.Hour), want: time.Hour},
		"the hook alone":                                 {hook: in(time.Hour), want: time.Hour},
		"what isn't ready yet asks, and the hook waits":  {verify: in(5 * time.Second), hook: not, want: 5 * time.Second},
		"the hook Requeue waits, and a component asks":   {deploy: in(5 * time.Second), requeue: not, want: 5 * time.Second},
		"the hook Requeue asks, and a component waits":   {deploy: not, requeue: in(5 * time.Second), want: 5 * time.Second},
		"the hook Requeue has time, a component has not": {deploy: not, requeue: in(time.Hour), want: time.Minute},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := &requeueingHooks{err: row.requeue}
			r.answers = map[string]error{"AfterDeploy": row.hook, "AfterIncomplete of the deployment": row.hook}
			r.setup = func(_ context.Context, s *Session) error {
				s.Use("c", &particular{built: *building("a"), note: func(string) {}, deploy: row.deploy, verify: row.verify})
				return nil
			}
			_, result, err := w.once(w.reconciler(r))
			require.NoError(t, err)
			assert.Equal(t, row.want, result.RequeueAfter)
		})
	}
}

// defaulting is a controller whose resources have defaults.
type defaulting struct {
	controller
	defaults map[string]any
}

func (d *defaulting) Defaults() Defaults { return Defaults{Resource: d.defaults} }

func TestDefaults(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 42: merged under what the resource says, and written nowhere", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		d := &defaulting{defaults: map[string]any{"spec": map[string]any{
			"size": int64(1), "mode": "quiet", "colours": map[string]any{"door": map[string]any{"red": "no", "blue": "no"}}, "list": []any{"a"},
		}}}
		var seen *unstructured.Unstructured
		d.setup = func(_ context.Context, s *Session) error {
			seen = s.Resource()
			seen.Object["spec"].(map[string]any)["list"].([]any)[0] = "spoilt"
			return nil
		}
		r := w.reconciler(d)
		w.calm(r)
		assert.Equal(t, map[string]any{
			"size": int64(3), "mode": "quiet", "colours": map[string]any{"door": map[string]any{"red": "yes", "blue": "no"}}, "list": []any{"spoilt"},
		}, seen.Object["spec"], "reconcile 42: merged under what the resource says")
		w.calm(r)
		assert.Equal(t, []any{"a"}, d.defaults["spec"].(map[string]any)["list"], "they are copied")
		assert.NotContains(t, w.widget().Object["spec"], "mode", "and written nowhere")
	})
}

// exhausting is a controller that fails and wants to know when it is given up.
type exhausting struct {
	controller
	told []string
}

func (e *exhausting) Exhausted(_ context.Context, _ *Session, err error) error {
	e.told = append(e.told, err.Error())
	return errors.New("nobody reads mail")
}

func TestMaxAttempts(t *testing.T) {
	t.Parallel()
	e := &exhausting{}
	e.setup = func(context.Context, *Session) error { return errNo }
	w := newWorld(t)
	r := w.reconciler(e, MaxAttempts(3))
	for attempt, permanent := range []bool{false, false, true} {
		_, err := r.Reconcile(t.Context(), request.Request{Key: widgetRequest.Key, Attempt: attempt})
		require.ErrorIs(t, err, errNo)
		assert.Equal(t, permanent, request.IsPermanent(err), attempt)
	}
	assert.Equal(t, []string{"given up after 3 attempts: setup: no"}, e.told)
	assert.Equal(t, "given up after 3 attempts: setup: no; exhausted: nobody reads mail", w.message())

	e.setup = func(context.Context, *Session) error { return request.Precondition("not yet") }
	_, err := r.Reconcile(t.Context(), request.Request{Key: widgetRequest.Key, Attempt: 7})
	require.NoError(t, err, "to wait is no failed attempt")
}

// What is nobody's failure isn't counted.
func TestAttemptsAreFailures(t *testing.T) {
	t.Parallel()
	stale := &deploy.StaleError{Ref: widgetRef, Err: errNo}
	unavailable := &deploy.UnavailableError{Err: errNo}
	contested := request.RetryAfter(time.Minute, &deploy.ConflictError{Ref: configMapRef("a"), Fought: true, Err: errNo})
	beside := errors.Join(contested, request.RetryAfter(time.Minute, errNo))
	passing := errors.Join(contested, stale)
	waiting := errors.Join(contested, request.Precondition("not yet"))
	for reason, row := range map[string]struct {
		errs      []error
		permanent bool
	}{
		"three in a row":                           {[]error{errNo, errNo, errNo}, true},
		"an outage of the cluster":                 {[]error{unavailable, unavailable, unavailable, unavailable}, false},
		"one failure after it":                     {[]error{unavailable, unavailable, errNo}, false},
		"somebody else was quicker":                {[]error{stale, stale, stale, stale, errNo}, false},
		"contested fields are tried again later":   {[]error{contested, contested, contested, contested, errNo}, false},
		"failures beside contested fields":         {[]error{beside, beside, beside}, true},
		"contested fields beside what passes":      {[]error{passing, passing, passing, passing}, false},
		"contested fields while others wait":       {[]error{waiting, waiting, waiting}, false},
		"failures around an outage":                {[]error{errNo, errNo, unavailable, errNo}, true},
		"a success between them":                   {[]error{errNo, errNo, nil, errNo}, false},
		"to wait is a success as far as that goes": {[]error{errNo, errNo, request.Precondition("not yet"), errNo}, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			attempt := 0
			r := w.reconciler(&controller{func(context.Context, *Session) error { return row.errs[attempt] }}, MaxAttempts(3))
			var err error
			for attempt = range row.errs {
				_, err = r.Reconcile(t.Context(), request.Request{Key: widgetRequest.Key, Attempt: attempt})
			}
			assert.Equal(t, row.permanent, request.IsPermanent(err))
		})
	}
	t.Run("given up, it starts anew with the next change", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		e := &exhausting{}
		e.setup = func(context.Context, *Session) error { return errNo }
		r := w.reconciler(e, MaxAttempts(2))
		for _, permanent := range []bool{false, true, false, true} {
			_, _, err := w.once(r)
			assert.Equal(t, permanent, request.IsPermanent(err))
		}
		assert.Len(t, e.told, 2)
	})
	t.Run("another spec starts anew", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(&controller{func(context.Context, *Session) error { return errNo }}, MaxAttempts(2))
		_, _, err := w.once(r)
		assert.False(t, request.IsPermanent(err))
		w.merge(widgetRef, `{"spec":{"size":4}}`)
		_, _, err = w.once(r)
		assert.False(t, request.IsPermanent(err))
		_, _, err = w.once(r)
		assert.True(t, request.IsPermanent(err))
	})
}

// What couldn't be said in the status yet is said soon, whatever the controller wants.
func TestUnwrittenStatusIsTriedSoon(t *testing.T) {
	t.Parallel()
	outage := refusing(&deploy.UnavailableError{Err: errNo}, writeStatus)
	t.Run("a permanent error", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = outage
		r := w.reconciler(&controller{func(context.Context, *Session) error { return request.Permanent(request.Configuration("odd")) }})
		_, _, err := w.once(r)
		assert.EqualError(t, err, "setup: odd (again in 1m0s)")
		assert.False(t, request.IsPermanent(err))
		after, _ := request.RetryTime(err)
		assert.Equal(t, time.Minute, after)
		w.refuse = nil
		_, _, err = w.once(r)
		assert.True(t, request.IsPermanent(err))
	})
	t.Run("a controller that says when to look again", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = outage
		_, _, err := w.once(w.reconciler(&requeueing{after: time.Hour}))
		var unavailable *deploy.UnavailableError
		require.ErrorAs(t, err, &unavailable)
	})
}
