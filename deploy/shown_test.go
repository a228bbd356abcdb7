package deploy_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shown keeps how the objects of a View looked when they were first seen: they are shared, and whoever
// changes one changes what others read.
type shown struct {
	mu     sync.Mutex
	copies map[*unstructured.Unstructured]*unstructured.Unstructured
}

// newShown checks at the end of the test that none was changed.
func newShown(t testing.TB) *shown {
	s := &shown{copies: map[*unstructured.Unstructured]*unstructured.Unstructured{}}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for obj, copied := range s.copies {
			assert.Equal(t, copied, obj, "an object of the View was changed")
		}
	})
	return s
}

func (s *shown) saw(obj *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.copies[obj]; !known && obj != nil {
		s.copies[obj] = obj.DeepCopy()
	}
}
