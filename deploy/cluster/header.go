package cluster

import (
	"bytes"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// header is what names one state of an object, as parts of its JSON or protobuf form.
type header struct {
	apiVersion, kind              []byte
	namespace, name, uid, version []byte
}

// ref names the object, which is of kind.
func (h header) ref(kind schema.GroupVersionKind) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: string(h.namespace), Name: string(h.name)}
}

// peek reads the header of an object without decoding it. ok is false for what isn't written as API servers
// write objects; that is then decoded in full, which says what is wrong with it. It is false too for an object
// that is being deleted: the write that lets go of it is answered by its end under the version of its last state.
func peek(document []byte) (h header, ok bool) {
	s := scanner{document}
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "apiVersion":
			return s.text(&h.apiVersion)
		case "kind":
			return s.text(&h.kind)
		case "metadata":
			return s.object(func(key []byte) bool {
				switch string(key) {
				case "namespace":
					return s.text(&h.namespace)
				case "name":
					return s.text(&h.name)
				case "uid":
					return s.text(&h.uid)
				case "resourceVersion":
					return s.text(&h.version)
				case "deletionTimestamp":
					return false
				}
				return s.skip()
			})
		}
		return s.skip()
	})
	return h, ok && len(h.uid) > 0 && len(h.version) > 0
}

// scanner walks JSON that is taken for valid.
type scanner struct{ rest []byte }

func (s *scanner) space() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\t' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

// take goes past one character.
func (s *scanner) take(want byte) bool {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != want {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// object calls each with the keys of an object; it has to go past the value.
func (s *scanner) object(each func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		var key []byte
		if !s.text(&key) || !s.take(':') || !each(key) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// text reads a string in which nothing is escaped.
func (s *scanner) text(into *[]byte) bool {
	if !s.take('"') {
		return false
	}
	end := bytes.IndexByte(s.rest, '"')
	if end < 0 || bytes.IndexByte(s.rest[:end], '\\') >= 0 {
		return false
	}
	*into, s.rest = s.rest[:end], s.rest[end+1:]
	return true
}

// skip goes past a value.
func (s *scanner) skip() bool {
	s.space()
	for depth := 0; len(s.rest) > 0; {
		switch s.rest[0] {
		case '"':
			if !s.skipText() {
				return false
			}
		case '{', '[':
			depth++
			s.rest = s.rest[1:]
		case '}', ']':
			if depth == 0 {
				return true // the end of what the value is in
			}
			depth--
			s.rest = s.rest[1:]
		case ',':
			if depth == 0 {
				return true
			}
			s.rest = s.rest[1:]
		default:
			s.rest = s.rest[1:]
			continue
		}
		if depth == 0 {
			return true
		}
	}
	return false
}

// skipText goes past a string, whatever is escaped in it.
func (s *scanner) skipText() bool {
	s.rest = s.rest[1:]
	for {
		at := bytes.IndexAny(s.rest, `"\`)
		if at < 0 || s.rest[at] == '\\' && at+1 >= len(s.rest) {
			return false
		}
		if s.rest[at] == '"' {
			s.rest = s.rest[at+1:]
			return true
		}
		s.rest = s.rest[at+2:]
	}
}
