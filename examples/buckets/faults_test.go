package main

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// count is the number of requests that read so since the last call of seen.
func (w *weather) count(request string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.requests {
		if one == request {
			n++
		}
	}
	return n
}

// The cloud fails, and is asked again in simulated time.
func TestBucketsRetriesInMemory(t *testing.T) {
	t.Parallel()
	exponential := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}
	for _, row := range []struct {
		reason string
		fate   fate
		delays []time.Duration
		// more: the calls go on after these.
		more bool
	}{
		{"an error of the cloud is tried five times again", http.StatusInternalServerError, exponential, false},
		{"a response that doesn't come is one", hangs, exponential, false},
		{"and so is a connection that breaks", unknown, exponential, false},
		{"a cloud that isn't ready is asked each minute", http.StatusConflict, slices.Repeat([]time.Duration{time.Minute}, 7), true},
		{"a request that is wrong isn't repeated", http.StatusBadRequest, nil, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			if row.fate == hangs {
				s.client.timeout = 500 * time.Millisecond
			}
			s.storm(put, slices.Repeat([]fate{row.fate}, 1+len(row.delays))...)
			s.create()
			s.Advance(0)
			assert.Equal(t, 1, s.count(put))
			for n, delay := range row.delays {
				s.Advance(delay - time.Second)
				assert.Equal(t, 1+n, s.count(put), "not before %s", delay)
				s.Advance(time.Second)
				assert.Equal(t, 2+n, s.count(put), "after %s", delay)
			}
			assert.Equal(t, []string{"buckets.examples.operkit.dev/cloud-in-progress"}, s.Get(photos).GetFinalizers())
			s.Advance(90 * time.Second)
			assert.Equal(t, row.more, s.count(put) > 1+len(row.delays))
			s.Advance(10 * time.Minute)
			assert.Equal(t, []string{"buckets.examples.operkit.dev/cloud"}, s.Get(photos).GetFinalizers(), "a resync tries again")
			assert.EqualValues(t, 5<<30, s.Buckets()["default.photos"].Quota)
		})
	}
}

// A bucket with files holds the deletion.
func TestBucketsHoldsDeletionsInMemory(t *testing.T) {
	t.Parallel()
	s := created(t)
	require.NoError(t, s.request(http.MethodPut, "/buckets/default.photos/files/a"))
	s.seen()
	s.Delete(photos)
	s.Advance(0)
	s.Advance(20 * time.Minute)
	s.Writes(0)
	s.Exists(photos)
	assert.GreaterOrEqual(t, s.count(remove), 20, "each minute, without end")
	require.NoError(t, s.request(http.MethodDelete, "/buckets/default.photos/files/a"))
	s.Advance(time.Minute)
	s.Gone(photos)
	assert.Empty(t, s.Buckets())
}

// Whoever deletes a bucket while it is created doesn't leave it behind in the cloud.
func TestBucketsDeletedWhileCreatedInMemory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		fate   fate
		// isLast: the process ends before it learns what has come of the call.
		isLast bool
	}{
		{"the call succeeds", arrives, false},
		{"its response is lost", unknown, false},
		{"its response is lost, and the process ends", unknown, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			isDead := false
			s.change(func(request string) fate {
				if isDead {
					return lost
				}
				if request == put {
					s.Delete(photos)
					isDead = row.isLast
					return row.fate
				}
				return arrives
			})
			s.create()
			if row.isLast {
				s.Advance(0)
				s.Exists(photos)
				s.change(nil)
				s.Restart()
			}
			s.seen()
			s.Advance(time.Minute)
			s.Gone(photos)
			assert.Empty(t, s.Buckets())
			assert.Equal(t, 1, s.count(remove))
		})
	}
}

// A new quota replaces a job that hasn't ended.
func TestBucketsNewQuotaInMemory(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.create()
	s.Advance(11 * time.Second)
	s.set("quota", "7Gi")
	s.Advance(time.Minute)
	assert.EqualValues(t, 7<<30, s.Buckets()["default.photos"].Quota)
	assert.Equal(t, 2, s.count(setQuota))
}
