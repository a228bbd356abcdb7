package podhash

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"hash"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// content is what Pods read of a Secret or a ConfigMap, as the cluster stores it: the bytes of each key.
type content map[string][]byte

// contentOf returns the content of an object, only the keys of ref.
func contentOf(obj *unstructured.Unstructured, ref Reference) content {
	all := content{}
	fields := []struct {
		name    string
		encoded bool
	}{{"data", false}, {"binaryData", true}}
	if ref.Kind == Secret {
		fields[0].encoded, fields[1].name, fields[1].encoded = true, "stringData", false
	}
	for _, field := range fields {
		for key, value := range asMap(obj.Object[field.name]) {
			if ref.Keys == nil || slices.Contains(ref.Keys, key) {
				all[key] = bytesOf(value, field.encoded)
			}
		}
	}
	return all
}

// bytesOf returns a value as the cluster stores it. What the cluster refuses, such as a number, counts as it is.
func bytesOf(value any, encoded bool) []byte {
	text, isText := value.(string)
	switch {
	case value == nil:
		return nil
	case !isText:
		text, _ := json.Marshal(value)
		return text
	case encoded:
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			return decoded
		}
	}
	return []byte(text)
}

// isBundle reports whether each value is one or several certificates in PEM.
func (c content) isBundle() bool {
	for _, value := range c {
		if !areCertificates(value) {
			return false
		}
	}
	return len(c) > 0
}

func areCertificates(value []byte) bool {
	some := false
	for block, rest := pem.Decode(value); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return false
		}
		some, value = true, rest
	}
	return some && len(bytes.TrimSpace(value)) == 0
}

// digest makes the hash of a template. Each part has its length before it, so that no two contents are the same bytes.
type digest struct {
	hash hash.Hash
	any  bool
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

func (d *digest) write(parts ...[]byte) {
	d.any = true
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		d.hash.Write(length[:])
		d.hash.Write(part)
	}
}

// add adds the values of an object.
func (d *digest) add(ref Reference, values content) {
	var count [8]byte
	binary.BigEndian.PutUint64(count[:], uint64(len(values)))
	d.write([]byte(ref.Kind), []byte(ref.Name), count[:])
	for _, key := range slices.Sorted(maps.Keys(values)) {
		d.write([]byte(key), values[key])
	}
}

// addDigest adds the text that counts in place of the values of an object.
func (d *digest) addDigest(ref Reference, text string) {
	d.write([]byte(ref.Kind), []byte(ref.Name), []byte("digest"), []byte(text))
}
