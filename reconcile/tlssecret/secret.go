package tlssecret

import (
	"encoding/base64"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const secretType = "kubernetes.io/tls"

// The names of the annotations, after the domain.
const (
	// annotationBook has the book.
	annotationBook = "serving"
	// annotationRenew is set by a user, and annotationRenewed has the value that was followed last.
	annotationRenew   = "renew"
	annotationRenewed = "renewed"
)

// stored is the Secret as it was read.
type stored struct {
	object *unstructured.Unstructured
	*state
	// renew is the value of annotationRenew if it wasn't followed yet.
	renew string
	// refused is why the Secret isn't written; empty if it may be.
	refused string
}

// read parses the Secret; obj may be nil. ours says that this process has used the Secret already.
func (c *Config) read(obj *unstructured.Unstructured, ours bool) stored {
	if obj == nil {
		return stored{}
	}
	annotations := obj.GetAnnotations()
	data := map[string][]byte{}
	encoded, _ := obj.Object["data"].(map[string]any)
	for key, value := range encoded {
		text, _ := value.(string)
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			data[key] = decoded
		}
	}
	read := stored{object: obj, state: parse(data, annotations[c.Domain+"/"+annotationBook])}
	if renew := annotations[c.Domain+"/"+annotationRenew]; renew != annotations[c.Domain+"/"+annotationRenewed] {
		read.renew = renew
	}
	_, marked := annotations[c.Domain+"/"+annotationBook]
	is, _ := obj.Object["type"].(string)
	immutable, _ := obj.Object["immutable"].(bool)
	switch {
	case is != secretType:
		read.refused = "its type is " + is + ", not " + secretType + ": delete it, or name another Secret"
	case immutable:
		read.refused = "it is immutable: delete it"
	case !ours && !marked && !read.blank && len(data[keyIssuerCert])+len(data[keyIssuerKey]) == 0:
		read.refused = "somebody else has stored a certificate in it: delete it, or name another Secret"
	}
	return read
}

// write returns the Secret as it is to be. What others have added to it stays.
func (c *Config) write(before *unstructured.Unstructured, p plan, renew string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata": map[string]any{"namespace": c.Namespace, "name": c.Secret},
	}}
	if before != nil {
		obj = before.DeepCopy()
		obj.SetManagedFields(nil) // the API server keeps them
	}
	data, _ := obj.Object["data"].(map[string]any)
	if data = maps.Clone(data); data == nil {
		data = map[string]any{}
	}
	delete(data, keyCross)
	for key, value := range p.state.data() {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	obj.Object["data"] = data
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[c.Domain+"/"+annotationBook] = p.state.annotation()
	if p.renewed && renew != "" {
		annotations[c.Domain+"/"+annotationRenewed] = renew
	}
	obj.SetAnnotations(annotations)
	return obj
}

// stampedAt returns the time of the API server's clock at which an object was written.
func stampedAt(obj *unstructured.Unstructured, manager string) (at time.Time) {
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager == manager && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}
