// Package smp applies and makes the three kinds of patches that Kubernetes knows, on plain maps: strategic merge
// patches ([Strategic]), JSON patches of RFC 6902 ([JSON]) and merge patches of RFC 7386 ([Merge]).
//
// [Diff], [DiffJSON] and [DiffMerge] make the patch that turns one document into another, [Diff3] makes the patch that
// kubectl apply would send. [JSONText] and [YAMLText] have the same seven operations for texts.
//
// # Documents
//
// A document is a JSON value as Go values of these types: nil, bool, string, int64, float64, json.Number,
// map[string]any and []any. Go's other numbers are converted to these types. A value of any other type, or NaN, is an
// error. No function changes its arguments. The result shares nothing with them unless [Shared] is given.
//
// # Schemas
//
// A strategic merge patch merges lists by keys. The keys depend on the kind of the document: containers of a Pod merge
// by name, ports of a Service by number. A [Schema] holds these keys. [SchemaFor] returns the schema of every stable
// kind of Kubernetes, without linking its types. Other schemas come from an API server's OpenAPI document
// ([SchemaFromOpenAPI]), a CustomResourceDefinition ([SchemaFromCRD]) or a Go type ([SchemaFromType]). Without a known
// schema, maps merge and lists are replaced.
//
// # When to use it
//
// Use it to patch manifests before they are applied, to show differences, or to compute patches for an API server,
// without a client and without linking k8s.io/api. To send a patch to a cluster, you don't need this package: the API
// server applies the patch. Use server-side apply where several writers share an object.
//
// # Differences from the API server
//
// [Strategic] gives the same results as k8s.io/apimachinery, which differential fuzzing checks, with these exceptions:
//
//   - No directive of a patch is ever left in a result. Kubernetes leaves $retainKeys, $setElementOrder and
//     $deleteFromPrimitiveList in new maps. It leaves all directives in appended elements and in replaced lists.
//   - Nulls in appended elements and in lists that are replaced are dropped, as everywhere else.
//   - A new map that is marked with $patch: replace is stored without the mark. Kubernetes drops the map.
//   - Keys and scalars are compared as JSON values, so that 80 and 80.0 are the same. A key that isn't a scalar is an
//     error. Kubernetes panics, or treats it as a scalar.
//   - A malformed directive ($setElementOrder without a field, $retainKeys with a value that isn't a name) is an error
//     in every place. Kubernetes ignores some malformed directives.
//   - $patch: delete in the element of a list that doesn't merge is an error. Kubernetes stores the element.
//   - $deleteFromPrimitiveList about a list of objects is an error. Kubernetes merges the objects instead. If the patch
//     also has a value for the list, the value is applied first. In Kubernetes the order is random.
//   - A $setElementOrder is an error if its elements have another type than the elements of the list. An empty
//     $setElementOrder changes nothing. An element with $patch: replace may come after the ordered elements. Kubernetes
//     ignores, shuffles or refuses such lists.
//   - If a list of scalars has a value twice, the first one keeps its place. In Kubernetes, the places of the other
//     elements depend on the memory that the decoder had reserved.
//   - Objects within a map with free keys, and within raw fields such as ControllerRevision's data, merge. Kubernetes
//     returns an error.
//   - A patch may not turn the document into another object unless [AllowIdentityChange] is given.
//
// [Diff3] makes the patch that kubectl apply sends, with these exceptions: The patch contains only the changes that
// current needs. Elements with the same key are distinguished by their order; kubectl mixes up such elements. Scalars
// get the order of modified, even if current has another order. A new element may have another place among the elements
// that only current has.
package smp
