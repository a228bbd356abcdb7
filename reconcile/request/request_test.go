package request

import (
	"errors"
	"fmt"
	"testing"
	"time"

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
