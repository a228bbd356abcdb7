package request

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	weird := errors.New("weird")
	for _, row := range []struct {
		reason    string
		err       error
		permanent bool
		after     time.Duration
	}{
		{"no error", nil, false, 0},
		{"no mark", weird, false, 0},
		{"permanent", Permanent(weird), true, 0},
		{"timed", RetryAfter(time.Minute, weird), false, time.Minute},
		{"a time that isn't positive is none", RetryAfter(0, weird), false, 0},
		{"nor is a negative one", RetryAfter(-time.Minute, weird), false, 0},
		{"wrapped", fmt.Errorf("x: %w", Permanent(weird)), true, 0},
		{"timed and wrapped", fmt.Errorf("x: %w", RetryAfter(time.Minute, weird)), false, time.Minute},
		{"the outermost mark counts", RetryAfter(time.Minute, Permanent(weird)), false, time.Minute},
		{"whichever that is", Permanent(RetryAfter(time.Minute, weird)), true, 0},
		{"joined: all permanent", errors.Join(Permanent(weird), Permanent(weird)), true, 0},
		{"joined: one may heal", errors.Join(Permanent(weird), weird), false, 0},
		{"joined: in whatever order", errors.Join(weird, Permanent(weird)), false, 0},
		{"joined: the shortest time", errors.Join(RetryAfter(time.Hour, weird), RetryAfter(time.Minute, weird), RetryAfter(time.Hour, weird)), false, time.Minute},
		{"joined: a permanent one doesn't count", errors.Join(Permanent(weird), RetryAfter(time.Minute, weird)), false, time.Minute},
		{"joined: nor after it", errors.Join(RetryAfter(time.Minute, weird), Permanent(weird)), false, time.Minute},
		{"joined: one without time wants the backoff", errors.Join(RetryAfter(time.Minute, weird), weird), false, 0},
		{"joined and wrapped", fmt.Errorf("x: %w", errors.Join(Permanent(weird))), true, 0},
		{"several wrapped by one", fmt.Errorf("%w; %w", Permanent(weird), weird), false, 0},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.permanent, IsPermanent(row.err))
			after, ok := RetryTime(row.err)
			assert.Equal(t, row.after, after)
			assert.Equal(t, row.after > 0, ok)
		})
	}
}

func TestMarkedErrorsStayThemselves(t *testing.T) {
	t.Parallel()
	weird := errors.New("weird")
	assert.Nil(t, Permanent(nil))
	assert.Nil(t, RetryAfter(time.Minute, nil))
	assert.ErrorIs(t, Permanent(weird), weird)
	assert.ErrorIs(t, RetryAfter(time.Minute, weird), weird)
	assert.EqualError(t, Permanent(weird), "weird")
	assert.EqualError(t, RetryAfter(time.Minute, weird), "weird (again in 1m0s)")
	assert.EqualError(t, RetryAfter(0, weird), "weird")
}

// as returns err with another class.
func as(class status.ErrorClass, err error) error { return &Error{Class: class, Err: err} }

var allClasses = []status.ErrorClass{status.ErrorPrecondition, status.ErrorVerification, status.ErrorCluster, status.ErrorConfig, status.ErrorRollout, status.ErrorUnknown}

func TestClasses(t *testing.T) {
	t.Parallel()
	for _, of := range allClasses {
		for reason, err := range map[string]error{
			"plain": errors.New("no"), "of another class": Configuration("no"), "of a type": &deploy.NotFoundError{Err: errors.New("no")},
			"of several": errors.Join(Precondition("no"), Configuration("no")), "a panic": &dag.PanicError{Value: "no"},
		} {
			got := as(of, err)
			assert.Equal(t, of, ClassOf(got), "%s: %s", of, reason)
			assert.Equal(t, of, ClassOf(fmt.Errorf("component web: %w", got)), "%s, wrapped: %s", of, reason)
			assert.Equal(t, err.Error(), got.Error())
			assert.ErrorIs(t, got, err)
			for _, outer := range allClasses {
				assert.Equal(t, outer, ClassOf(as(outer, got)), "the outermost decides")
			}
		}
	}
	for i, milder := range allClasses {
		for _, more := range allClasses[i:] {
			joined := errors.Join(as(milder, errors.New("a")), as(more, errors.New("b")))
			assert.Equal(t, more, ClassOf(joined), "of joined ones the most severe")
		}
	}
	err := errors.New("no")
	assert.Equal(t, status.ErrorUnknown, ClassOf(as("", err)), "no class changes nothing")
	assert.Equal(t, Severity(status.ErrorUnknown), Severity("weather"), "one that doesn't exist")
	assert.Equal(t, status.ErrorUnknown, ClassOf(err))
	assert.Equal(t, status.ErrorClass(""), ClassOf(nil))
	assert.Equal(t, status.ErrorPrecondition, ClassOf(Precondition("no")))
	assert.Equal(t, status.ErrorConfig, ClassOf(Configuration("no")))
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
		"wrapped": {fmt.Errorf("x: %w", Passing(no)), true}, "marked otherwise, too": {RetryAfter(time.Second, Passing(no)), true},
		"all of several": {errors.Join(Passing(no), stale), true}, "one of several": {errors.Join(Passing(no), no), false},
		"a precondition": {Precondition("no"), false}, "with a class": {as(status.ErrorCluster, Passing(no)), true}, "none of several": {joinedNone{}, false},
	} {
		assert.Equal(t, row.want, Resolve(row.err).Passing, reason)
	}
	assert.NoError(t, Passing(nil))
	assert.EqualError(t, Passing(no), "no")
	assert.ErrorIs(t, Passing(no), no)
}

// joinedNone joins nothing.
type joinedNone struct{}

func (joinedNone) Error() string   { return "none" }
func (joinedNone) Unwrap() []error { return nil }

func TestResolve(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	for reason, row := range map[string]struct {
		err  error
		want Error
	}{
		"no error":                    {nil, Error{}},
		"quiet, wrapped":              {fmt.Errorf("x: %w", &Error{Quiet: true, Err: no}), Error{Class: status.ErrorUnknown, Quiet: true}},
		"joined errors aren't quiet":  {errors.Join(&Error{Quiet: true, Err: no}), Error{Class: status.ErrorUnknown}},
		"one that advanced suffices":  {errors.Join(no, &Error{Advanced: true, Err: no}), Error{Class: status.ErrorUnknown, Advanced: true}},
		"a conflict that says when":   {&deploy.ConflictError{RetryAfter: time.Minute}, Error{Class: status.ErrorCluster, RetryAfter: time.Minute}},
		"beside one that doesn't":     {errors.Join(&deploy.ConflictError{RetryAfter: time.Minute}, no), Error{Class: status.ErrorUnknown}},
		"verbatim, not what wraps it": {fmt.Errorf("x: %w", &Error{Verbatim: true, Err: no}), Error{Class: status.ErrorUnknown}},
		"nothing joined":              {joinedNone{}, Error{Class: status.ErrorUnknown}},
	} {
		row.want.Err = row.err
		assert.Equal(t, row.want, Resolve(row.err), reason)
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	one, other := &dag.PanicError{Value: "a"}, &dag.PanicError{Value: "b"}
	assert.Equal(t, []*dag.PanicError{one, other}, Panics(errors.Join(fmt.Errorf("x: %w", one), errors.New("no"), Permanent(other))))
	assert.Empty(t, Panics(nil))
}

func TestTriggers(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "", Triggers(0).String())
	assert.Equal(t, "listed,periodic,retry,external,mapped,followed,child,changed,forced,deleting,deleted", Triggers(0x7ff).String())
	assert.Equal(t, Triggers(0x7ff), Deleted|(Deleted-1), "each has its name")
	assert.Equal(t, "external,forced", (External | Forced).String())
	assert.Equal(t, "child,changed", (Changed | Child).String())
	assert.True(t, (Changed | Child).Has(Child|Deleted))
	assert.False(t, Changed.Has(Child|Deleted))
}
