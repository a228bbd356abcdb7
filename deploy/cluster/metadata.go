package cluster

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// contentOf returns metadata as JSON decodes it. Who owns which fields is decoded by fields; nobody may change what that returns
// if it is shared.
func contentOf(m *metav1.ObjectMeta, fields func(text []byte) (map[string]any, error)) (map[string]any, error) {
	content := make(map[string]any, 12)
	putText(content, "name", m.Name)
	putText(content, "generateName", m.GenerateName)
	putText(content, "namespace", m.Namespace)
	putText(content, "selfLink", m.SelfLink) //nolint:staticcheck // an old API server may still give it
	putText(content, "uid", string(m.UID))
	putText(content, "resourceVersion", m.ResourceVersion)
	if m.Generation != 0 {
		content["generation"] = m.Generation
	}
	putTime(content, "creationTimestamp", &m.CreationTimestamp)
	putTime(content, "deletionTimestamp", m.DeletionTimestamp)
	if m.DeletionGracePeriodSeconds != nil {
		content["deletionGracePeriodSeconds"] = *m.DeletionGracePeriodSeconds
	}
	putTexts(content, "labels", m.Labels)
	putTexts(content, "annotations", m.Annotations)
	if len(m.OwnerReferences) > 0 {
		references := make([]any, len(m.OwnerReferences))
		for i := range m.OwnerReferences {
			references[i] = referenceContent(&m.OwnerReferences[i])
		}
		content["ownerReferences"] = references
	}
	if len(m.Finalizers) > 0 {
		finalizers := make([]any, len(m.Finalizers))
		for i, name := range m.Finalizers {
			finalizers[i] = name
		}
		content["finalizers"] = finalizers
	}
	if len(m.ManagedFields) > 0 {
		entries := make([]any, len(m.ManagedFields))
		for i := range m.ManagedFields {
			entry, err := managedContent(&m.ManagedFields[i], fields)
			if err != nil {
				return nil, fmt.Errorf("metadata.managedFields[%d]: %w", i, err)
			}
			entries[i] = entry
		}
		content["managedFields"] = entries
	}
	return content, nil
}

func referenceContent(r *metav1.OwnerReference) map[string]any {
	content := map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "name": r.Name, "uid": string(r.UID)}
	if r.Controller != nil {
		content["controller"] = *r.Controller
	}
	if r.BlockOwnerDeletion != nil {
		content["blockOwnerDeletion"] = *r.BlockOwnerDeletion
	}
	return content
}

func managedContent(e *metav1.ManagedFieldsEntry, fields func(text []byte) (map[string]any, error)) (map[string]any, error) {
	content := make(map[string]any, 7)
	putText(content, "manager", e.Manager)
	putText(content, "operation", string(e.Operation))
	putText(content, "apiVersion", e.APIVersion)
	putText(content, "fieldsType", e.FieldsType)
	putText(content, "subresource", e.Subresource)
	putTime(content, "time", e.Time)
	if e.FieldsV1 != nil {
		owned, err := fields(e.FieldsV1.GetRawBytes())
		if err != nil {
			return nil, fmt.Errorf("fieldsV1: %w", err)
		}
		content["fieldsV1"] = owned
	}
	return content, nil
}

func putText(content map[string]any, key, text string) {
	if text != "" {
		content[key] = text
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

func putTime(content map[string]any, key string, at *metav1.Time) {
	if at != nil && !at.IsZero() {
		content[key] = at.UTC().Format(time.RFC3339)
	}
}
