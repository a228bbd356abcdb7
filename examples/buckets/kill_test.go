package main

import (
	"fmt"
	"os"
	"testing"

	v1 "github.com/operkit/operkit/examples/buckets/api/v1"
	"github.com/operkit/operkit/examples/buckets/cloud"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chapter is a part of the life of a bucket.
type chapter struct {
	name  string
	begin func(w *world)
	over  func(w *world) bool
}

var life = []chapter{
	{"create", (*world).create, func(w *world) bool { return w.Buckets()[w.name()].Quota == 5<<30 }},
	{"publish", func(w *world) { w.Merge(v1.BucketKind, "photos", `{"spec":{"public":true}}`) },
		func(w *world) bool { return w.Buckets()[w.name()].Public && w.count("GET /buckets/"+w.name()) > 0 }},
	{"new quota", func(w *world) { w.Merge(v1.BucketKind, "photos", `{"spec":{"quota":"7Gi"}}`) },
		func(w *world) bool { return w.Buckets()[w.name()].Quota == 7<<30 }},
	{"restart", func(w *world) {
		w.process.Stop(w.t)
		w.seen()
		w.start()
	}, func(w *world) bool { return w.count("GET /buckets/"+w.name()) >= 2 }},
	{"delete", func(w *world) { w.Delete(v1.BucketKind, "photos") },
		func(w *world) bool { return w.bucket() == nil }},
}

// state is what a chapter ends with: the bucket in the cloud, and the one in the cluster.
type state struct {
	cloud      cloud.Bucket
	spec       any
	finalizers []string
}

// live lives through a chapter. A process that is killed is followed by the next one.
func (w *world) live(c chapter) (ended state, requests int) {
	w.t.Helper()
	w.seen()
	c.begin(w)
	w.Eventually(c.name+" ends", func() bool {
		if !w.process.Running() {
			w.start()
		}
		return c.over(w)
	})
	w.AwaitQuiet(w.t, w.operator)
	if b := w.bucket(); b != nil {
		ended.spec, ended.finalizers = b.Object["spec"], b.GetFinalizers()
	}
	ended.cloud = w.Buckets()[w.name()]
	return ended, len(w.seen())
}

// TestBucketsKilled kills the process of the operator before and after each of its requests to the cloud. Each of its
// writes to the API server comes before or after one, so these are kills between all steps. By default it kills at some
// requests, and `make soak` at each.
func TestBucketsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var states []state
	var requests []int
	for _, c := range life {
		ended, sent := w.live(c)
		states, requests = append(states, ended), append(requests, sent)
	}
	assert.Equal(t, []int{6, 2, 6, 2, 1}, requests)
	assert.Equal(t, state{}, states[len(states)-1])
	each := 4
	if os.Getenv("OPERKIT_SOAK") != "" {
		each = 1
	}
	for n, c := range life {
		t.Logf("SOAK buckets: %s: killed at each %d. of %d requests, before and after it", c.name, each, requests[n])
		for at := 1; at <= requests[n]; at += each {
			for killed, when := range map[fate]string{lost: "before", unknown: "after"} {
				t.Run(fmt.Sprintf("%s, %s request %d", c.name, when, at), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					for _, before := range life[:n] {
						w.live(before)
					}
					left := at
					w.change(func(string) fate {
						if left--; left != 0 {
							return arrives
						}
						w.process.Kill()
						return killed
					})
					ended, _ := w.live(c)
					require.LessOrEqual(t, left, 0, "it was killed")
					assert.Equal(t, states[n], ended)
				})
			}
		}
	}
}
