package manifest

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/operkit/operkit/deploy"
	"sigs.k8s.io/yaml"
)

// Encode writes a component as YAML documents, each after the line --- and a comment that names the component and the
// object. A disabled component is written only with the option Disabled. After an error nothing is written.
func Encode(out io.Writer, component Component, opts ...Option) error {
	content, err := newOptions(opts).encoded(component)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}

func (o options) encoded(component Component) ([]byte, error) {
	var content bytes.Buffer
	if !o.writes(component) {
		return nil, nil
	}
	title := component.Name
	if component.Disabled {
		title += " (disabled)"
	}
	for _, object := range component.Objects {
		remark := ""
		if !o.secrets && masks(object) {
			remark = " (values masked)"
		}
		if !o.secrets {
			object = Mask(object)
		}
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("component %s: %s: %w", component.Name, deploy.RefOf(object), err)
		}
		fmt.Fprintf(&content, "---\n# %s\n%s", oneLine(fmt.Sprintf("%s: %s/%s%s", title, object.GetKind(), object.GetName(), remark)), document)
	}
	return content.Bytes(), nil
}

// oneLine keeps a comment on one line: the names of components are free text.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 {
			return ' '
		}
		return c
	}, text)
}

// writes reports whether there is anything to write.
func (o options) writes(component Component) bool {
	return len(component.Objects) > 0 && (!component.Disabled || o.disabled)
}
