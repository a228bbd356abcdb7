package kopf

import "k8s.io/apimachinery/pkg/util/json"

// The names that kopf uses unless its operators set others.
const (
	Domain    = "kopf.zalando.org"
	Finalizer = Domain + "/KopfFinalizerMarker"
	// record is the id of the essence that was handled last.
	record = "last-handled-configuration"
)

// Essence returns the essence that a kopf operator with that domain has recorded on an object as handled, and false if
// there is none that can be read.
func Essence(object map[string]any, domain string) (essence map[string]any, ok bool) {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, key := range Keys(domain, record, isReplicaSetOfDeployment(object, metadata)) {
		if essence, ok = decoded(annotations[key]); ok {
			return essence, true
		}
	}
	return nil, false
}

// EssenceInStatus is Essence for an operator that records in the status, in the field with that name.
func EssenceInStatus(object map[string]any, name string) (essence map[string]any, ok bool) {
	status, _ := object["status"].(map[string]any)
	own, _ := status[name].(map[string]any)
	return decoded(own[record])
}

func decoded(text any) (essence map[string]any, ok bool) {
	document, _ := text.(string)
	return essence, json.Unmarshal([]byte(document), &essence) == nil && essence != nil
}

func isReplicaSetOfDeployment(object, metadata map[string]any) bool {
	owners, _ := metadata["ownerReferences"].([]any)
	if object["kind"] != "ReplicaSet" {
		return false
	}
	for _, each := range owners {
		if owner, _ := each.(map[string]any); owner["kind"] == "Deployment" {
			return true
		}
	}
	return false
}
