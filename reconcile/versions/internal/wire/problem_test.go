package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// told is an error as the other side has it.
func told(t *testing.T, err error) error {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, encode(NewProblem(err), &text))
	var p *Problem
	require.NoError(t, Decode(text.Bytes(), &p))
	return p.Err()
}

var web = deploy.Ref{Kind: deployments, Namespace: "shop", Name: "web"}

// roots are errors of all types and classes.
var roots = []func() error{
	func() error { return errors.New("no") },
	func() error { return request.Precondition("no node has a GPU") },
	func() error { return request.Configuration("spec.size: %d is odd", 7) },
	func() error { return &request.Error{Class: status.ErrorVerification, Err: errors.New("not ready")} },
	func() error {
		return &request.Error{Class: status.ErrorCluster, Err: errors.New("the cluster says no")}
	},
	func() error { return &request.Error{Class: status.ErrorRollout, Err: errors.New("described wrongly")} },
	func() error { return &request.Error{Class: status.ErrorUnknown, Err: request.Precondition("severe")} },
	func() error { return &deploy.KindUnknownError{Kind: deployments} },
	func() error { return &deploy.NotFoundError{Ref: web, Err: errors.New("404")} },
	func() error {
		return &deploy.ForbiddenError{Verb: "get", Namespace: "shop", Name: "web", Err: errors.New("u cannot get resource x")}
	},
	func() error { return &deploy.StaleError{Ref: web, Err: errors.New("409")} },
	func() error {
		return &deploy.UnavailableError{Ref: web, RetryAfter: 3 * time.Second, Err: errors.New("503")}
	},
	func() error { return &deploy.TimeoutError{Ref: web, Reason: "slow", Err: errors.New("late")} },
	func() error { return &deploy.OwnedError{Ref: web, Owner: "somebody"} },
	func() error { return &deploy.ConflictError{Ref: web} },
	func() error { return &deploy.InvalidError{Ref: web, Err: errors.New("422")} },
	func() error { return &deploy.InvalidManifestError{Ref: web, Reason: "no kind"} },
	func() error { return &deploy.TerminatingError{Ref: web} },
	func() error { return &dag.PanicError{Value: "the roof", Stack: []byte("goroutine 1")} },
	func() error {
		return &dag.PanicError{Value: request.Configuration("bad"), Stack: []byte("goroutine 2")}
	},
}

// around are marks and what else errors are wrapped in.
var around = []func(err error) error{
	func(err error) error { return fmt.Errorf("component web: %w", err) },
	request.Permanent, request.Passing, dag.Unverified,
	func(err error) error { return &request.Error{Quiet: true, Err: err} },
	func(err error) error { return request.RetryAfter(time.Minute, err) },
	func(err error) error { return request.RetryAfter(0, err) },
	func(err error) error { return &request.Error{Class: status.ErrorConfig, Err: err} },
	func(err error) error { return errors.Join(err, errors.New("and another one")) },
	func(err error) error { return errors.Join(errors.New("first"), err) },
	func(err error) error { return errors.Join(err, err) },
}

// What an error means is the same on both sides, whatever it is made of.
func TestProblemsMeanTheSame(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, err error, how string) {
		t.Helper()
		got := told(t, err)
		require.Equal(t, err.Error(), got.Error(), how)
		require.Equal(t, request.ClassOf(err), request.ClassOf(got), how)
		require.Equal(t, request.IsWaiting(err), request.IsWaiting(got), how)
		require.Equal(t, request.Resolve(err).Passing, request.Resolve(got).Passing, how)
		require.Equal(t, request.IsPermanent(err), request.IsPermanent(got), how)
		require.Equal(t, request.Resolve(err).Quiet, request.Resolve(got).Quiet, how)
		after, asked := request.RetryTime(err)
		gotAfter, gotAsked := request.RetryTime(got)
		require.Equal(t, after, gotAfter, how)
		require.Equal(t, asked, gotAsked, how)
		require.Equal(t, errors.As(err, new(*dag.PanicError)), errors.As(got, new(*dag.PanicError)), how)
		require.Equal(t, got.Error(), told(t, got).Error(), "%s: and once more", how)
		require.Equal(t, request.ClassOf(err), request.ClassOf(told(t, got)), "%s: and once more", how)
	}
	for i, root := range roots {
		check(t, root(), fmt.Sprint("root ", i))
	}
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 2))
		at := r.IntN(len(roots))
		err, how := roots[at](), fmt.Sprint("root ", at)
		for range r.IntN(4) {
			at := r.IntN(len(around))
			err, how = around[at](err), fmt.Sprint(how, " in ", at)
		}
		check(t, err, how)
	}
	assert.NoError(t, told(t, nil))
}

// Callers branch on the types of some errors, and on what these are about.
func TestProblemsHaveTheirTypes(t *testing.T) {
	t.Parallel()
	wrapped := func(err error) error { return told(t, fmt.Errorf("component web: %w", err)) }
	var unknown *deploy.KindUnknownError
	require.ErrorAs(t, wrapped(&deploy.KindUnknownError{Kind: deployments}), &unknown)
	assert.Equal(t, deployments, unknown.Kind)
	var absent *deploy.NotFoundError
	require.ErrorAs(t, wrapped(&deploy.NotFoundError{Ref: web}), &absent)
	assert.Equal(t, web, absent.Ref)
	var forbidden *deploy.ForbiddenError
	require.ErrorAs(t, wrapped(&deploy.ForbiddenError{Namespace: "shop", Name: "web", Err: errors.New(`user "x" cannot get resource "y"`)}), &forbidden)
	assert.Equal(t, "shop", forbidden.Namespace)
	assert.True(t, forbidden.MissingRight())
	var unavailable *deploy.UnavailableError
	require.ErrorAs(t, wrapped(&deploy.UnavailableError{Ref: web, RetryAfter: time.Second, Err: errors.New("503")}), &unavailable)
	assert.Equal(t, time.Second, unavailable.RetryAfter)
	var late *deploy.TimeoutError
	require.ErrorAs(t, wrapped(&deploy.TimeoutError{Ref: web}), &late)
	assert.Equal(t, web, late.Ref)
	var owned *deploy.OwnedError
	require.ErrorAs(t, wrapped(&deploy.OwnedError{Ref: web}), &owned)
	assert.Equal(t, web, owned.Ref)
	var stale *deploy.StaleError
	require.ErrorAs(t, wrapped(&deploy.StaleError{Ref: web}), &stale)
	assert.Equal(t, web, stale.Ref)
	require.False(t, errors.As(told(t, errors.Join(&deploy.StaleError{Ref: web}, errors.New("and worse"))), &stale), "it isn't all that there is")
	require.ErrorAs(t, told(t, errors.Join(errors.New("and worse"), &deploy.NotFoundError{Ref: web})), &absent, "of others any branch will do")
	for range 20 { // always the same one
		require.ErrorAs(t, told(t, errors.Join(&deploy.TimeoutError{Ref: web}, &deploy.NotFoundError{Ref: web})), &absent)
	}
}

// A problem that another side has made up is an error all the same.
func TestProblemsThatNobodyMakes(t *testing.T) {
	t.Parallel()
	for reason, p := range map[string]*Problem{
		"no text": {}, "a class that there isn't": {Text: "x", Class: "weather"}, "a type that there isn't": {Text: "x", Type: "Weather"},
		"a type without what it is about": {Text: "x", Class: "cluster", Type: "NotFound"}, "a negative time": {Text: "x", RetryAfter: -1},
		"all marks at once": {Text: "x", Permanent: true, Quiet: true, Passing: true, RetryAfter: 1, Stack: "x", Type: "Stale"},
	} {
		err := p.Err()
		require.Error(t, err, reason)
		assert.Equal(t, p.Text, err.Error(), reason)
		_ = told(t, err)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	outcome := reconcile.Outcome{Hook: errors.New("hook"), Components: map[string]reconcile.ComponentOutcome{
		"a": {State: reconcile.Verified, Deployed: true},
		"b": {State: reconcile.Failed, Err: request.Configuration("bad")},
		"c": {State: reconcile.Unstarted, Reason: "waits for b"},
	}}
	var text bytes.Buffer
	require.NoError(t, encode(NewOutcome(outcome), &text))
	var got *Outcome
	require.NoError(t, Decode(text.Bytes(), &got))
	again := got.Outcome()
	assert.EqualError(t, again.Hook, "hook")
	assert.Equal(t, outcome.Components["a"], again.Components["a"])
	assert.Equal(t, outcome.Components["c"], again.Components["c"])
	assert.Equal(t, status.ErrorConfig, request.ClassOf(again.Components["b"].Err))
	assert.False(t, again.Complete())
	assert.Equal(t, outcome.Err().Error(), again.Err().Error())
	assert.Zero(t, (*Outcome)(nil).Outcome())
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	kind, house := Kind{Version: "v1", Name: "Secret"}, Kind{Group: "example.dev", Version: "v1", Name: "House"}
	for reason, row := range map[string]struct {
		kinds []ControlledKind
		wrong string
	}{
		"a kind":                       {[]ControlledKind{{Kind: house, Scope: "Cluster", Owned: []Source{{Kind: kind}}}}, ""},
		"none":                         {nil, "it controls no kind"},
		"a kind without name":          {[]ControlledKind{{Kind: Kind{Version: "v1"}}}, "without name or version"},
		"a kind without version":       {[]ControlledKind{{Kind: Kind{Name: "House"}}}, "without name or version"},
		"a kind twice":                 {[]ControlledKind{{Kind: house}, {Kind: kind}, {Kind: house}}, "it controls the kind House twice"},
		"a scope that there isn't":     {[]ControlledKind{{Kind: house, Scope: "Galaxy"}}, `the scope "Galaxy" of the kind House: it must be Namespaced or Cluster`},
		"an owned kind without name":   {[]ControlledKind{{Kind: house, Owned: []Source{{}}}}, "a source of the kind House without name or version"},
		"a mapped kind without a name": {[]ControlledKind{{Kind: house, Mapped: []Source{{Kind: Kind{Version: "v1"}}}}}, "a source of the kind House without name or version"},
	} {
		err := (&Declaration{Kinds: row.kinds}).Check()
		if row.wrong == "" {
			require.NoError(t, err, reason)
		} else {
			require.ErrorContains(t, err, row.wrong, reason)
		}
	}
	external := &Declaration{Kinds: []ControlledKind{{Kind: kind}, {Kind: house, External: 1}}}
	assert.True(t, external.HasExternal())
	assert.False(t, (&Declaration{Kinds: external.Kinds[:1]}).HasExternal())
	assert.Nil(t, external.ControlledKind(Kind{Version: "v2", Name: "Secret"}))
}
