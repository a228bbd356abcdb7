package kopf

import (
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// longestName is the length of the name of an annotation, without its domain.
const longestName = 63

// Keys returns the keys of the annotations under which kopf may have stored a record, the newest form first. suffixed
// are records of ReplicaSets that a Deployment owns: Kubernetes copies the Deployment's annotations to them. kopf
// doesn't make sure that a key is valid; a key that isn't is never on an object.
func Keys(domain, id string, suffixed bool) []string {
	if suffixed {
		id += "-ofDRS"
	}
	name := strings.NewReplacer("/", ".", "<", "_", ">", "_").Replace(id)
	keys := []string{domain + "/" + cut(name, id, longestName), domain + "/" + cut(name, name, longestName-len(domain)-1)}
	return slices.Compact(keys)
}

// cut returns name. If it is longer than longest characters, it is shortened, and ends in a hash of hashed. longest may
// be negative: then characters are cut off at the end.
func cut(name, hashed string, longest int) string {
	characters := []rune(name)
	if len(characters) <= longest {
		return name
	}
	hash, err := blake2b.New(4, nil)
	if err != nil {
		return name // 4 bytes are a valid size
	}
	_, _ = hash.Write([]byte(hashed))
	text := strings.NewReplacer("+", "-", "/", ".").Replace(base64.StdEncoding.EncodeToString(hash.Sum(nil)))
	suffix := "-" + strings.TrimRight(text, "=-.")
	end := longest - len(suffix)
	if end < 0 {
		end = max(0, len(characters)+end)
	}
	return string(characters[:min(end, len(characters))]) + suffix
}
