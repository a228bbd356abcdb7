package structs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/structs"
)

func TestUnwrap(t *testing.T) {
	t.Parallel()
	type byValue struct {
		Note string
		unstructured.Unstructured
	}
	type byPointer struct{ *unstructured.Unstructured }
	inner, list, wrapper := &unstructured.Unstructured{}, &unstructured.UnstructuredList{}, &byValue{}
	assert.Same(t, &wrapper.Unstructured, structs.Unwrap(wrapper))
	assert.Same(t, inner, structs.Unwrap(&byPointer{inner}))
	for _, same := range []any{inner, list, 7, "x", map[string]any(nil), &loop{}, (*byValue)(nil)} {
		assert.Equal(t, same, structs.Unwrap(same))
	}
	assert.Nil(t, structs.Unwrap(nil))
	assert.Nil(t, structs.Unwrap(&byPointer{}), "it holds no object")
}
