package dryrun

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// definition is the spec of a CustomResourceDefinition.
type definition struct {
	Group string          `json:"group"`
	Names definitionNames `json:"names"`
	Scope deploy.Scope    `json:"scope"`

	PreserveUnknownFields bool                `json:"preserveUnknownFields"`
	Versions              []definitionVersion `json:"versions"`
}

type definitionNames struct {
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular"`
	ShortNames []string `json:"shortNames"`
	Categories []string `json:"categories"`
}

type definitionVersion struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
	Schema  struct {
		OpenAPIV3Schema *spec.Schema `json:"openAPIV3Schema"`
	} `json:"schema"`
	Subresources struct {
		Status *struct{} `json:"status"`
	} `json:"subresources"`
	SelectableFields []struct {
		JSONPath string `json:"jsonPath"`
	} `json:"selectableFields"`
}

// readDefinition decodes a CustomResourceDefinition. It returns the fields that are invalid.
func readDefinition(obj *unstructured.Unstructured) (*definition, []deploy.InvalidField) {
	content, err := json.Marshal(obj.Object["spec"])
	d := &definition{}
	if err == nil {
		err = json.Unmarshal(content, d)
	}
	if err != nil {
		return nil, []deploy.InvalidField{{Field: "spec", Message: err.Error()}}
	}
	var problems []deploy.InvalidField
	report := func(wrong bool, field, message string) {
		if wrong {
			problems = append(problems, deploy.InvalidField{Field: field, Message: message})
		}
	}
	report(d.Group == "", "spec.group", "is missing")
	report(d.Names.Kind == "", "spec.names.kind", "is missing")
	report(d.Names.Plural == "", "spec.names.plural", "is missing")
	named := d.Group != "" && d.Names.Plural != ""
	report(named && obj.GetName() != d.Names.Plural+"."+d.Group, "metadata.name", fmt.Sprintf("must be spec.names.plural+\".\"+spec.group, which is %s.%s", d.Names.Plural, d.Group))
	report(d.Scope != deploy.Namespaced && d.Scope != deploy.ClusterScoped, "spec.scope", "must be Cluster or Namespaced")
	stored := 0
	for i, v := range d.Versions {
		at := fmt.Sprintf("spec.versions[%d]", i)
		report(v.Name == "", at+".name", "is missing")
		report(slices.ContainsFunc(d.Versions[:i], func(other definitionVersion) bool { return other.Name == v.Name }), at+".name", "is also the name of an earlier version")
		report(v.Schema.OpenAPIV3Schema == nil && !d.PreserveUnknownFields, at+".schema.openAPIV3Schema", "schemas are required")
		if v.Storage {
			stored++
		}
	}
	report(stored != 1, "spec.versions", "must have exactly one version marked as storage version")
	return d, problems
}

func (d *definition) kind() schema.GroupKind {
	return schema.GroupKind{Group: d.Group, Kind: d.Names.Kind}
}

// declare returns a declaration for each served version of a definition, by version.
func (d *definition) declare(known *builtins) (map[string]*declaration, []deploy.InvalidField) {
	kinds := map[string]*declaration{}
	for i, v := range d.Versions {
		declared, err := d.declareVersion(known, v)
		if err != nil {
			return nil, []deploy.InvalidField{{Field: fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i), Message: err.Error()}}
		}
		if v.Served {
			kinds[v.Name] = declared
		}
	}
	return kinds, nil
}

func (d *definition) declareVersion(known *builtins, v definitionVersion) (*declaration, error) {
	kind := d.kind().WithVersion(v.Name)
	object, err := mergeType(known, kind, v.Schema.OpenAPIV3Schema, d.PreserveUnknownFields)
	if err != nil {
		return nil, err
	}
	content, err := newStructural(v.Schema.OpenAPIV3Schema, d.PreserveUnknownFields)
	if err != nil {
		return nil, err
	}
	declared := &declaration{
		kind: kind, plural: d.Names.Plural, singular: d.Names.Singular, short: d.Names.ShortNames, categories: d.Names.Categories, scope: d.Scope,
		status: v.Subresources.Status != nil, generation: true, strict: true, content: content,
		object:    sync.OnceValues(func() (typed.ParseableType, error) { return object, nil }),
		validName: validation.NameIsDNSSubdomain,
	}
	if declared.singular == "" {
		declared.singular = strings.ToLower(d.Names.Kind)
	}
	for _, field := range v.SelectableFields {
		declared.selectable = append(declared.selectable, strings.TrimPrefix(field.JSONPath, "."))
	}
	return declared, nil
}

// mergeType returns the type by which custom resources with a schema merge.
func mergeType(known *builtins, kind schema.GroupVersionKind, s *spec.Schema, keepsAll bool) (typed.ParseableType, error) {
	own, err := copied(s)
	if err != nil {
		return typed.ParseableType{}, err
	}
	if own == nil {
		own = &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
		own.AddExtension(preserveUnknownFields, true)
	}
	eachSchema(own, func(s *spec.Schema) {
		if extended(s, embeddedResource) {
			withMetadata(s)
		}
	})
	withMetadata(own)
	name := kind.String()
	types, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{name: own}, keepsAll)
	if err != nil {
		return typed.ParseableType{}, err
	}
	metadata, err := known.closure(objectMetaType)
	if err != nil {
		return typed.ParseableType{}, err
	}
	for _, def := range metadata.Types {
		if !slices.ContainsFunc(types.Types, func(have smd.TypeDef) bool { return have.Name == def.Name }) {
			types.Types = append(types.Types, def)
		}
	}
	object := typed.ParseableType{Schema: types, TypeRef: smd.TypeRef{NamedType: &name}}
	// If the type can't be walked, the schema has an error: report this error now.
	value, err := object.FromUnstructured(map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind})
	if err != nil {
		return object, err
	}
	_, err = value.ToFieldSet()
	return object, err
}

// withMetadata adds apiVersion, kind and metadata to a schema.
func withMetadata(s *spec.Schema) {
	text := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}}}
	if s.Properties == nil {
		s.Properties = map[string]spec.Schema{}
	}
	s.Properties["apiVersion"], s.Properties["kind"] = text, text
	s.Properties["metadata"] = spec.Schema{SchemaProps: spec.SchemaProps{Ref: spec.MustCreateRef("#/definitions/" + objectMetaType)}}
}

// apiServer is the field manager of the changes that an API server makes by itself.
const apiServer = "kube-apiserver"

// checkDefinition returns the invalid fields of obj if obj is a CustomResourceDefinition.
func (c *Cluster) checkDefinition(at address, obj *unstructured.Unstructured) []deploy.InvalidField {
	if at.kind != definitionKind || c.kinds.schemaless {
		return nil
	}
	defined, problems := readDefinition(obj)
	if len(problems) > 0 {
		return problems
	}
	_, problems = defined.declare(c.kinds.builtin)
	return problems
}

// define serves the kinds of a CustomResourceDefinition, instead of the kinds that this definition had before. It
// returns false if the definition is invalid, or if its kind is built in or defined by another definition. The lock is
// held.
func (k *kinds) define(obj *unstructured.Unstructured) (accepted bool) {
	defined, problems := readDefinition(obj)
	if len(problems) > 0 {
		return false
	}
	kind := defined.kind()
	if holder, taken := k.definedBy[kind]; taken && holder != obj.GetName() || k.builtin.has(kind) {
		return false
	}
	declared, problems := defined.declare(k.builtin)
	if len(problems) > 0 {
		return false
	}
	for _, d := range declared {
		d.conversion = k.converted(kind)
	}
	for _, v := range defined.Versions {
		if v.Storage {
			k.storages[kind] = v.Name
		}
	}
	k.custom[kind], k.definedBy[kind] = declared, obj.GetName()
	return true
}

// undefine stops serving the kind of a CustomResourceDefinition, if it was served. The lock is held.
func (c *Cluster) undefine(obj *unstructured.Unstructured) {
	if kind, known := c.kinds.defined(obj.GetName()); known {
		delete(c.kinds.custom, kind)
		delete(c.kinds.definedBy, kind)
		c.fields.forget(kind)
	}
}

// has reports whether a kind is built in, in any version.
func (b *builtins) has(kind schema.GroupKind) bool {
	for known := range b.kinds {
		if known.GroupKind() == kind {
			return true
		}
	}
	return false
}

// establish serves the kinds of a definition that was just stored, and sets its status. The lock is held.
func (c *Cluster) establish(at address, live *unstructured.Unstructured) {
	c.undefine(live)
	next := c.established(live)
	if equality.Semantic.DeepEqual(live.Object["status"], next.Object["status"]) {
		return
	}
	if managed, err := c.attributed(live, next, apiServer, statusSubresource); err == nil {
		next = managed
	}
	c.stampManagers(live, next)
	c.store(at, live, next)
}

// established serves the kinds of a definition and returns it with the status that a server sets.
func (c *Cluster) established(obj *unstructured.Unstructured) *unstructured.Unstructured {
	accepted := c.kinds.define(obj)
	next := obj.DeepCopy()
	status, ok := next.Object["status"].(map[string]any)
	if !ok {
		status = map[string]any{}
		next.Object["status"] = status
	}
	var conditions []any
	for _, kind := range []string{"NamesAccepted", "Established"} {
		conditions = append(conditions, c.condition(status, kind, accepted))
	}
	status["conditions"] = conditions
	if names, ok, _ := unstructured.NestedMap(next.Object, "spec", "names"); ok && accepted {
		status["acceptedNames"] = names
	}
	stored := listAt(status, "storedVersions")
	for _, item := range listAt(next.Object, "spec.versions") {
		version, _ := item.(map[string]any)
		if version["storage"] == true && !slices.Contains(stored, version["name"]) {
			status["storedVersions"] = append(stored, version["name"])
		}
	}
	return next
}

// condition returns a condition of a definition. If the definition has the condition with the same status, that
// condition is returned unchanged.
func (c *Cluster) condition(status map[string]any, kind string, holds bool) map[string]any {
	value, reason, message := "True", "NoConflicts", "no conflicts found"
	if kind == "Established" {
		reason, message = "InitialNamesAccepted", "the initial names have been accepted"
	}
	if !holds {
		value, reason, message = "False", "KindConflict", "the kind is declared already"
	}
	for _, item := range listAt(status, "conditions") {
		if condition, ok := item.(map[string]any); ok && condition["type"] == kind && condition["status"] == value {
			return condition
		}
	}
	return map[string]any{
		"type": kind, "status": value, "reason": reason, "message": message, "lastTransitionTime": c.timestamp(),
	}
}
