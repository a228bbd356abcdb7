package filter

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func TestMetadata(t *testing.T) {
	t.Parallel()
	const (
		first, second = "metadata: {generation: 1, resourceVersion: '7'}", "metadata: {generation: 2, resourceVersion: '8'}"
		marked        = "metadata: {annotations: {a: b}}"
		clusters      = "metadata: {annotations: {deployment.kubernetes.io/revision: '2', x.k8s.io/y: z, openshift.io/z: z}}"
		both          = "metadata: {annotations: {a: b, x.k8s.io/y: z}}"
		leased        = "metadata: {annotations: {operkit.dev/lease-time: now, operkit.dev/lease-name: me}}"
		bare          = "metadata: {name: x}"
		shop          = "metadata: {labels: {app: shop, tier: web}}"
		bank          = "metadata: {labels: {app: bank}}"
		held          = "metadata: {finalizers: [ours, theirs]}"
	)
	runRows(t, []row{
		{"watch 29: Generation: a new spec", Generation(), first, second, true},
		{"watch 29: Generation: another change", Generation(), first, "metadata: {generation: 1, resourceVersion: '8'}", false},
		{"watch 29: Generation: has no opinion about a creation", Generation(), "", first, false},
		{"watch 29: Generation: nor about an end", Generation(), first, "", false},
		{"watch 29: Generation: objects that have none", Generation(), bare, bare, false},
		{"WithoutGeneration: a ConfigMap", WithoutGeneration(), bare, bare, true},
		{"WithoutGeneration: as it is now", WithoutGeneration(), bare, first, false},

		{"watch 29: ResourceVersion: another one", ResourceVersion(), first, second, true},
		{"watch 29: ResourceVersion: a repetition", ResourceVersion(), first, first, false},
		{"watch 29: ResourceVersion: a creation", ResourceVersion(), "", first, true},
		{"watch 29: ResourceVersion: stays out of an end", ResourceVersion(), first, "", true},
		{"ResourceVersion: none says nothing", ResourceVersion(), bare, bare, true},

		{"watch 29: Annotations: one comes", Annotations(), bare, marked, true},
		{"watch 29: Annotations: one changes", Annotations(), marked, "metadata: {annotations: {a: c}}", true},
		{"watch 29: Annotations: one goes", Annotations(), marked, bare, true},
		{"watch 29: Annotations: a cluster's own count here", Annotations(), bare, clusters, true},
		{"watch 29: Annotations: a new spec alone", Annotations(), first, second, false},
		{"watch 29: Annotations: no opinion about a creation", Annotations(), "", marked, false},
		{"watch 29: Annotations: nor about an end", Annotations(), marked, "", false},
		{"Annotations: none are as an empty map", Annotations(), bare, "metadata: {annotations: {}}", false},
		{"watch mistake 8: our own keys", Annotations("example.dev/seen"), bare, "metadata: {annotations: {example.dev/seen: now}}", false},
		{"watch mistake 8: no others", Annotations("example.dev/seen"), bare, marked, true},
		{"watch 35, mistake 8: Annotations: an object that is taken", Annotations(), bare, leased, false},
		{"watch 35, mistake 8: Annotations: one that is released", Annotations(), leased, bare, false},
		{"watch 35, mistake 8: Annotations: whatever the domain", Annotations(), bare, "metadata: {annotations: {oper8.org/lease-name: me}}", false},
		{"watch 35, mistake 8: Annotations: beside another one that comes", Annotations(), bare, "metadata: {annotations: {a: b, oper8.org/lease-name: me}}", true},
		{"watch 35: Annotations: a key that merely begins so", Annotations(), bare, "metadata: {annotations: {operkit.dev/lease-names: me}}", true},
		{"watch 35: Annotations: one without a domain is somebody else's", Annotations(), bare, "metadata: {annotations: {lease-name: me}}", true},
		{"watch 35, mistake 8: UserAnnotations: an object that is taken", UserAnnotations(), bare, leased, false},

		{"watch 29: UserAnnotations: a user's", UserAnnotations(), bare, marked, true},
		{"watch 29: UserAnnotations: those of k8s.io, kubernetes.io, openshift.io", UserAnnotations(), bare, clusters, false},
		{"watch 29: UserAnnotations: beside a user's that stays", UserAnnotations(), marked, both, false},
		{"watch 29: UserAnnotations: a user's that goes beside", UserAnnotations(), both, "metadata: {annotations: {x.k8s.io/y: z}}", true},
		{"watch 29: UserAnnotations: no opinion about a creation", UserAnnotations(), "", marked, false},
		{"watch mistake 8: our own keys are no user's", UserAnnotations("a"), bare, marked, false},

		{"watch 29: Labels: all match", Labels(labels.SelectorFromSet(labels.Set{"app": "shop"})), "", shop, true},
		{"watch 29: Labels: another value", Labels(labels.SelectorFromSet(labels.Set{"app": "shop"})), "", bank, false},
		{"watch 29: Labels: one of two is missing", Labels(labels.SelectorFromSet(labels.Set{"app": "bank", "tier": "web"})), "", bank, false},
		{"watch 29, mistake 12: Labels: an object without any", Labels(labels.SelectorFromSet(labels.Set{"app": "shop"})), "", bare, false},
		{"watch 29: Labels: as it is now", Labels(labels.SelectorFromSet(labels.Set{"app": "shop"})), shop, bank, false},
		{"watch 29: Labels: an end by its last state", Labels(labels.SelectorFromSet(labels.Set{"app": "shop"})), shop, "", true},
		{"Labels: no selector matches all", Labels(nil), "", bare, true},
		{"LabelsChanged: a value", LabelsChanged(), shop, bank, true},
		{"LabelsChanged: none", LabelsChanged(), first, second, false},
		{"LabelsChanged: a creation is no change", LabelsChanged(), "", shop, false},

		{"Finalizers: one is taken off", Finalizers(), held, "metadata: {finalizers: [theirs]}", true},
		{"Finalizers: all are", Finalizers(), held, bare, true},
		{"Finalizers: one comes", Finalizers(), bare, held, false},
		{"Finalizers: another order", Finalizers(), held, "metadata: {finalizers: [theirs, ours]}", false},
	})
}
