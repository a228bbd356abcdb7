package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The daemon sleeps in simulated time, too.
func TestFromKopfMeasuresInMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		capacity := func() string {
			size, _, _ := unstructured.NestedString(h.Get(claim).Object, "status", "capacity")
			return size
		}
		h.Advance(11 * time.Second)
		assert.Equal(t, "1Gi", capacity())
		edit(h, "size", "2Gi")
		h.Advance(11 * time.Second)
		assert.Equal(t, "2Gi", capacity())
		h.Advance(time.Hour)
		h.Writes(0)
		h.Delete(claim)
		h.RunUntilSettled()
		h.Gone(claim)
	})
}
