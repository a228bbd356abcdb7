package explore

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestUnedited(t *testing.T) {
	definition := parsed(t, `{kind: CustomResourceDefinition, spec: {group: example.dev, names: {kind: Thing}, versions: [{name: v1, schema: {openAPIV3Schema: {
		type: object, properties: {metadata: {type: object}, status: {type: object}, spec: {type: object,
			x-kubernetes-validations: [{rule: self.fixed == oldSelf.fixed}], properties: {
				fixed: {type: string}, size: {type: integer}, only: {type: string, enum: [a]},
				any: {type: object, x-kubernetes-preserve-unknown-fields: true},
				list: {type: array, items: {type: object, properties: {a: {type: object, properties: {b: {type: object, properties: {c: {type: string}}}}}}}},
				pod: {type: object, properties: {containers: {type: array, items: {type: string}}, dnsPolicy: {type: string}}}}}}}}}]}}`)
	thing := &unstructured.Unstructured{Object: object("{apiVersion: example.dev/v1, kind: Thing, metadata: {name: a}, spec: {size: 1}}")}
	c := &coverage{}
	c.schema(thing, []*unstructured.Unstructured{definition})
	t.Run("explore 47: each field of the schema has a reason to be without an edit", func(t *testing.T) {
		assert.Equal(t, map[string]string{
			"spec.fixed": edit.ByRule, "spec.size": edit.Otherwise, "spec.only": edit.Otherwise, "spec.any": edit.AsUnknown, "spec.list[].a.b.c": edit.ByDepth,
			"spec.pod.containers": edit.InTemplate, "spec.pod.dnsPolicy": edit.InTemplate,
		}, c.unedited)
	})
	t.Run("explore 47: what has an edit isn't counted", func(t *testing.T) {
		c.fields = map[string]bool{"spec.size": true, "spec.pod.dnsPolicy": false}
		assert.Equal(t, "fields without an edit: 1 CEL, 1 preserved, 1 depth, 1 Pod, 1 other", c.neverEdited())
	})
	t.Run("explore 47: no line if each one has an edit", func(t *testing.T) {
		c := &coverage{fields: map[string]bool{"spec.size": true}, unedited: map[string]string{"spec.size": edit.Otherwise}}
		assert.Empty(t, c.neverEdited())
	})
}
