package compact

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// contentOf returns m as JSON decodes it, without managedFields.
func contentOf(m *metav1.ObjectMeta) map[string]any {
	content := make(map[string]any, 12)
	putText(content, "name", m.Name)
	putText(content, "generateName", m.GenerateName)
	putText(content, "namespace", m.Namespace)
	putText(content, "selfLink", m.SelfLink) //nolint:staticcheck // an old API server may still give it
	putText(content, "uid", string(m.UID))
	putText(content, "resourceVersion", m.ResourceVersion)
	putTime(content, "creationTimestamp", &m.CreationTimestamp)
	putTime(content, "deletionTimestamp", m.DeletionTimestamp)
	putTexts(content, "labels", m.Labels)
	putTexts(content, "annotations", m.Annotations)
	if m.Generation != 0 {
		content["generation"] = m.Generation
	}
	if m.DeletionGracePeriodSeconds != nil {
		content["deletionGracePeriodSeconds"] = *m.DeletionGracePeriodSeconds
	}
	if len(m.OwnerReferences) > 0 {
		owners := make([]any, len(m.OwnerReferences))
		for i := range m.OwnerReferences {
			owners[i] = ownerContent(&m.OwnerReferences[i])
		}
		content["ownerReferences"] = owners
	}
	if len(m.Finalizers) > 0 {
		finalizers := make([]any, len(m.Finalizers))
		for i, name := range m.Finalizers {
			finalizers[i] = name
		}
		content["finalizers"] = finalizers
	}
	return content
}

func ownerContent(owner *metav1.OwnerReference) map[string]any {
	content := map[string]any{"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Name, "uid": string(owner.UID)}
	if owner.Controller != nil {
		content["controller"] = *owner.Controller
	}
	if owner.BlockOwnerDeletion != nil {
		content["blockOwnerDeletion"] = *owner.BlockOwnerDeletion
	}
	return content
}

func entryContent(entry *metav1.ManagedFieldsEntry, fields map[string]any) map[string]any {
	content := make(map[string]any, 7)
	putText(content, "manager", entry.Manager)
	putText(content, "operation", string(entry.Operation))
	putText(content, "apiVersion", entry.APIVersion)
	putText(content, "fieldsType", entry.FieldsType)
	putText(content, "subresource", entry.Subresource)
	putTime(content, "time", entry.Time)
	if fields != nil {
		content["fieldsV1"] = fields
	}
	return content
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
