package dryrun

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// builtinText holds the built-in kinds of Kubernetes and their types, in the form of client-go's type converters, but
// without inlined types. It also holds the scopes, zero values and enums that the sources of Kubernetes declare.
// tools/peers/deploy/generate writes it.
//
//go:embed builtin.txt
var builtinText string

// objectMetaType is the type of the metadata of every object.
const objectMetaType = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// builtins are the built-in kinds of Kubernetes. A type is decoded when a kind first needs it.
type builtins struct {
	kinds map[schema.GroupVersionKind]*declaration
	types map[string]string
	// zeros are, by type, the fields for which a server treats the zero value like an absent one.
	zeros map[string][]string
	// enums are the values that a server accepts for a field, in ascending order. A field that isn't a key of enums
	// accepts any value.
	enums map[typeField][]string
	// clusterScoped are the cluster-scoped kinds, including kinds that aren't stored or have no released version.
	clusterScoped map[schema.GroupKind]bool
}

// typeField is a field of a type.
type typeField struct{ typeName, name string }

var builtin = sync.OnceValues(func() (*builtins, error) {
	b := &builtins{
		kinds: map[schema.GroupVersionKind]*declaration{}, types: map[string]string{}, zeros: map[string][]string{},
		enums: map[typeField][]string{}, clusterScoped: map[schema.GroupKind]bool{},
	}
	kinds := map[schema.GroupVersionKind][]string{}
	for line := range strings.Lines(builtinText) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case columns[0] == "type" && len(columns) == 3:
			b.types[columns[1]] = columns[2]
		case columns[0] == "zero" && len(columns) == 3:
			b.zeros[columns[1]] = strings.Split(columns[2], " ")
		case columns[0] == "enum" && len(columns) == 4:
			b.enums[typeField{columns[1], columns[2]}] = strings.Split(columns[3], " ")
		case columns[0] == "cluster" && len(columns) == 3:
			b.clusterScoped[schema.GroupKind{Group: columns[1], Kind: columns[2]}] = true
		case columns[0] == "kind" && len(columns) == 5:
			version, err := schema.ParseGroupVersion(columns[1])
			if err != nil {
				return nil, fmt.Errorf("kinds of Kubernetes: %w", err)
			}
			kinds[version.WithKind(columns[2])] = columns[3:]
		default:
			return nil, fmt.Errorf("kinds of Kubernetes: line %q: want a kind, cluster, type, zero or enum", line)
		}
	}
	for kind, columns := range kinds {
		b.kinds[kind] = b.declare(kind, columns[0], strings.Fields(columns[1]))
	}
	return b, nil
})

func (b *builtins) declare(kind schema.GroupVersionKind, typeName string, short []string) *declaration {
	d := &declaration{
		kind: kind, scope: deploy.Namespaced, short: short,
		generation: slices.Contains(counted[kind.Group], kind.Kind), selectable: selectableFields[kind.GroupKind()],
		strict: true, validName: nameRule(kind),
	}
	d.plural, d.singular = guessNames(kind)
	if b.clusterScoped[kind.GroupKind()] {
		d.scope = deploy.ClusterScoped
	}
	d.object = sync.OnceValues(func() (typed.ParseableType, error) {
		types, err := b.closure(typeName)
		return typed.ParseableType{Schema: types, TypeRef: smd.TypeRef{NamedType: &typeName}}, err
	})
	// A type with a status field has a status subresource.
	d.status = strings.Contains(b.types[typeName], `{"name":"status",`)
	return d
}

// closure decodes the types with these names and all types that they refer to, directly or not.
func (b *builtins) closure(names ...string) (*smd.Schema, error) {
	decoded, types := map[string]bool{}, &smd.Schema{}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if decoded[name] {
			continue
		}
		decoded[name] = true
		// Without these tags a decoder would leave out the embedded fields of smd.Atom.
		var text struct {
			*smd.Scalar `json:"scalar"`
			*smd.List   `json:"list"`
			*smd.Map    `json:"map"`
		}
		if err := json.Unmarshal([]byte(b.types[name]), &text); err != nil {
			return nil, fmt.Errorf("type %s of Kubernetes: %w", name, err)
		}
		def := smd.TypeDef{Name: name, Atom: smd.Atom(text)}
		types.Types = append(types.Types, def)
		names = append(names, references(def.Atom)...)
	}
	return types, nil
}

// references returns the names of the types that an atom refers to.
func references(a smd.Atom) []string {
	var used []smd.TypeRef
	if a.List != nil {
		used = append(used, a.List.ElementType)
	}
	if a.Map != nil {
		used = append(used, a.Map.ElementType)
		for _, field := range a.Map.Fields {
			used = append(used, field.Type)
		}
	}
	var names []string
	for _, ref := range used {
		if ref.NamedType != nil {
			names = append(names, *ref.NamedType)
		}
	}
	return names
}

// nameRule returns the validation of the names of a built-in kind.
func nameRule(kind schema.GroupVersionKind) validation.ValidateNameFunc {
	switch {
	case kind.Group == "rbac.authorization.k8s.io":
		return pathSegment
	case kind.Group == "" && kind.Kind == "Namespace":
		return validation.ValidateNamespaceName
	case kind.Group == "" && kind.Kind == "Service":
		return validation.NameIsDNS1035Label
	}
	return validation.NameIsDNSSubdomain
}

// Kubernetes declares the content of the following tables only in the code of the API server's registries.

// counted are the built-in kinds whose objects have a generation.
var counted = map[string][]string{
	"": {"Pod", "PodTemplate", "ReplicationController"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apps":                         {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"batch":                        {"CronJob", "Job"},
	"discovery.k8s.io":             {"EndpointSlice"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"Ingress", "IngressClass", "NetworkPolicy"},
	"policy":                       {"PodDisruptionBudget"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
}

// selectableFields are the fields by which lists of a built-in kind can be selected, in addition to the fields of
// metadata.
var selectableFields = map[schema.GroupKind][]string{
	{Kind: "Event"}: {
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
		"reason", "reportingComponent", "source", "type",
	},
	{Kind: "Namespace"}: {"status.phase"},
	{Kind: "Node"}:      {"spec.unschedulable"},
	{Kind: "Pod"}: {
		"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.nominatedNodeName",
	},
	{Kind: "ReplicationController"}: {"status.replicas"},
	{Kind: "Secret"}:                {"type"},
	{Kind: "Service"}:               {"spec.clusterIP", "spec.type"},
	{Group: "batch", Kind: "Job"}:   {"status.successful"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {"spec.signerName"},
}
