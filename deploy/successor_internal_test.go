package deploy

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Being the default of all PriorityClasses is nothing that stands in the way of a successor, unless another one is it.
// An API server that has such a class gives its value to every Pod, so the text is tested without one.
func TestHeldByLivePriorityClass(t *testing.T) {
	t.Parallel()
	class := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
		"metadata": map[string]any{"name": "mine"}, "globalDefault": true}}
	refusal := func(name string) error {
		return &ForbiddenError{Err: errors.New(`priorityclasses.scheduling.k8s.io "mine" is forbidden: PriorityClass ` + name + ` is already marked as default. Only one default can exist`)}
	}
	assert.Equal(t, [][]any{{"globalDefault"}}, heldByLive(refusal("mine"), class, class))
	assert.Empty(t, heldByLive(refusal("other"), class, class))
	assert.Empty(t, heldByLive(nil, class, class))
}
