package explore

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// exception is a parsed pattern of Ignore.
type exception struct {
	kind, name string
	// field are the names on the way to a field; none means the whole object.
	field []string
}

var fieldParts = regexp.MustCompile(`[^.\[\]]+|\[[^\]]+\]`)

func parseException(text string) (exception, error) {
	words := strings.Fields(text)
	if len(words) < 2 || len(words) > 3 {
		return exception{}, fmt.Errorf(`ignore %q: not a kind, a name and perhaps a field: use a form such as "Shop * status.phase"`, text)
	}
	p := exception{kind: words[0], name: words[1]}
	if _, err := path.Match(p.name, ""); err != nil {
		return exception{}, fmt.Errorf("ignore %q: the name %q: %w", text, p.name, err)
	}
	if len(words) == 3 {
		p.field = namesIn(words[2])
	}
	return p, nil
}

// means reports whether an exception is about an object.
func (p exception) means(ref deploy.Ref) bool {
	kind, group, grouped := strings.Cut(p.kind, ".")
	name := ref.Name
	if strings.Contains(p.name, "/") {
		name = ref.Namespace + "/" + name
	}
	fits, err := path.Match(p.name, name)
	return err == nil && fits && kind == ref.Kind.Kind && (!grouped || group == ref.Kind.Group)
}
