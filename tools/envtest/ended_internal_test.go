package envtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestHeldUpBy(t *testing.T) {
	t.Parallel()
	finalizers := corev1.NamespaceCondition{Type: corev1.NamespaceFinalizersRemaining, Status: corev1.ConditionTrue}
	content := corev1.NamespaceCondition{
		Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue,
		Message: "Some resources are remaining: configmaps. has 2 resource instances, guestbooks.examples.operkit.dev has 1 resource instances",
	}
	kinds := []schema.GroupResource{{Resource: "configmaps"}, {Group: "examples.operkit.dev", Resource: "guestbooks"}}
	over := content
	over.Status = corev1.ConditionFalse
	for _, row := range []struct {
		reason     string
		conditions []corev1.NamespaceCondition
		want       []schema.GroupResource
	}{
		{"nothing is said yet", nil, nil},
		{"what is left has finalizers", []corev1.NamespaceCondition{content, finalizers}, kinds},
		{"what is left goes by itself, as Pods do in a while", []corev1.NamespaceCondition{content}, nil},
		{"what was left is gone", []corev1.NamespaceCondition{over, finalizers}, nil},
		{"a text of another kind", []corev1.NamespaceCondition{finalizers, {
			Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Message: "much",
		}}, nil},
	} {
		assert.Equal(t, row.want, heldUpBy(row.conditions), row.reason)
	}
}
