package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/operkit/operkit/deploy"
)

const (
	suffix         = ".k8s.yaml"
	disabledFolder = "DISABLED"
	// longest is how long a piece of a path may be before it is cut. Two of them and the suffix are a file's name.
	longest = 100
)

// folderOf returns the folder with the components of a resource.
func folderOf(resource deploy.Ref) string {
	kind := strings.ToLower(strings.ReplaceAll(resource.Kind.GroupVersion().String(), "/", ".") + "." + resource.Kind.Kind)
	if resource.Namespace == "" {
		return path.Join(piece(kind), piece(resource.Name))
	}
	return path.Join(piece(kind), piece(resource.Namespace), piece(resource.Name))
}

// fileOf returns the file of a component.
func fileOf(resource deploy.Ref, component Component) string {
	name, folder := piece(component.Name), folderOf(resource)
	if component.Disabled {
		folder = path.Join(folder, disabledFolder)
	}
	return path.Join(folder, name, piece(resource.Name)+"-"+name+suffix)
}

// piece returns the piece of a path for a name. Different names have different pieces.
func piece(name string) string {
	var out strings.Builder
	for i, c := range []byte(name) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0
		// No piece equals the folder of disabled components, even if the file system ignores case.
		if plain && (i > 0 || !strings.EqualFold(name, disabledFolder)) {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	escaped := out.String()
	switch {
	case escaped == "":
		return "%"
	case len(escaped) > longest:
		sum := sha256.Sum256([]byte(name))
		digits := hex.EncodeToString(sum[:])[:16]
		return escaped[:longest-len(digits)-1] + "%" + digits
	}
	return escaped
}
