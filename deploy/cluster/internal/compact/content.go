package compact

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// contentOf returns m in the form that JSON decodes to, without managedFields.
func contentOf(m *metav1.ObjectMeta) map[string]any {
	content := make(map[string]any, 12)
	put(content, "name", m.Name)
	put(content, "generateName", m.GenerateName)
	put(content, "namespace", m.Namespace)
	put(content, "selfLink", m.SelfLink) //nolint:staticcheck // an old API server may still set it
	put(content, "uid", string(m.UID))
	put(content, "resourceVersion", m.ResourceVersion)
	put(content, "generation", m.Generation)
	putTime(content, "creationTimestamp", &m.CreationTimestamp)
	putTime(content, "deletionTimestamp", m.DeletionTimestamp)
	putPointer(content, "deletionGracePeriodSeconds", m.DeletionGracePeriodSeconds)
	putTexts(content, "labels", m.Labels)
	putTexts(content, "annotations", m.Annotations)
	putList(content, "finalizers", m.Finalizers, func(name *string) any { return *name })
	putList(content, "ownerReferences", m.OwnerReferences, ownerContent)
	return content
}

func ownerContent(owner *metav1.OwnerReference) any {
	content := map[string]any{"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Name, "uid": string(owner.UID)}
	putPointer(content, "controller", owner.Controller)
	putPointer(content, "blockOwnerDeletion", owner.BlockOwnerDeletion)
	return content
}

func entryContent(entry *metav1.ManagedFieldsEntry, fields map[string]any) map[string]any {
	content := make(map[string]any, 7)
	put(content, "manager", entry.Manager)
	put(content, "operation", string(entry.Operation))
	put(content, "apiVersion", entry.APIVersion)
	put(content, "fieldsType", entry.FieldsType)
	put(content, "subresource", entry.Subresource)
	putTime(content, "time", entry.Time)
	if fields != nil {
		content["fieldsV1"] = fields
	}
	return content
}

func put[T comparable](content map[string]any, key string, value T) {
	if value != *new(T) {
		content[key] = value
	}
}

func putPointer[T any](content map[string]any, key string, value *T) {
	if value != nil {
		content[key] = *value
	}
}

func putTime(content map[string]any, key string, at *metav1.Time) {
	if at != nil && !at.IsZero() {
		content[key] = at.UTC().Format(time.RFC3339)
	}
}

func putTexts(content map[string]any, key string, texts map[string]string) {
	if len(texts) == 0 {
		return
	}
	values := make(map[string]any, len(texts))
	for name, text := range texts {
		values[name] = text
	}
	content[key] = values
}

func putList[T any](content map[string]any, key string, items []T, itemContent func(*T) any) {
	if len(items) == 0 {
		return
	}
	values := make([]any, len(items))
	for i := range items {
		values[i] = itemContent(&items[i])
	}
	content[key] = values
}
