package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/fieldpath"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"k8s.io/apimachinery/pkg/types"
	plain "k8s.io/apimachinery/pkg/util/json"
)

// Record is what an operator keeps on an object.
type Record struct {
	// UID is the uid of the object. A copy of the object, or one that was restored from a backup, has another one: its
	// record counts as none.
	UID types.UID `json:"uid"`
	// Digest identifies the essence that was handled last, empty if none was. Essence is that essence, nil if it was
	// too large to be kept.
	Digest  string         `json:"digest,omitempty"`
	Essence map[string]any `json:"essence,omitempty"`
	// Fields are the digests of those fields of an Essence that isn't kept, by path, which matter to handlers.
	Fields map[string]string `json:"fields,omitempty"`
	// Cycle is the progress of the handlers for a cause that isn't handled yet.
	Cycle progress.Cycle `json:"cycle,omitempty"`
	// Crons are the times at which crons were called last, by id, in whole seconds.
	Crons map[string]time.Time `json:"crons,omitempty"`
}

// Of returns the record in the text of an annotation if it is about the object with that uid, and the zero Record if
// text is empty or about another object. A text that can't be read is an error.
func Of(text string, uid types.UID) (Record, error) {
	if text == "" {
		return Record{}, nil
	}
	document, err := unpacked(text)
	if err != nil {
		return Record{}, fmt.Errorf("record of handlers: %w", err)
	}
	var r Record
	if err := plain.Unmarshal(document, &r); err != nil {
		return Record{}, fmt.Errorf("record of handlers: %w", err)
	}
	if r.UID != uid {
		return Record{}, nil
	}
	return r, nil
}

// Handled reports whether an essence was handled.
func (r Record) Handled() bool { return r.Digest != "" }

// Renamed returns the record with what it has of a handler under another id, unless it has something under that id.
func (r Record) Renamed(from, to string) Record {
	r.Cycle = r.Cycle.Renamed(from, to)
	called, known := r.Crons[from]
	if _, taken := r.Crons[to]; known && !taken {
		r.Crons = maps.Clone(r.Crons)
		r.Crons[to] = called
		delete(r.Crons, from)
	}
	return r
}

// Digest returns a text that identifies an essence.
func Digest(essence map[string]any) (string, error) {
	return digest(essence, 32)
}

// Field returns the digest of one field of an essence, for Fields.
func Field(essence map[string]any, path []string) (string, error) {
	return digest(diff.At(essence, path), 16)
}

func digest(value any, length int) (string, error) {
	document, err := json.Marshal(value) // with sorted keys
	if err != nil {
		return "", fmt.Errorf("essence: %w", err)
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])[:length], nil
}

// Changed reports whether a field of the essence differs from an essence that isn't kept. known is false if that can't
// be found out.
func (r Record) Changed(essence map[string]any, path []string) (changed, known bool) {
	before, known := r.Fields[fieldpath.String(path)]
	after, err := Field(essence, path)
	return before != after, known && err == nil
}

// withFields returns the record with the digests of fields instead of the essence.
func (r Record) withFields(paths [][]string) (Record, error) {
	fields := map[string]string{}
	for _, path := range paths {
		digest, err := Field(r.Essence, path)
		if err != nil {
			return r, err
		}
		fields[fieldpath.String(path)] = digest
	}
	r.Essence, r.Fields = nil, fields
	return r, nil
}

const (
	// most is the size of all annotations of an object up to which the essence is kept: the API server accepts 256 KiB.
	most = 200 << 10
	// packedFrom is the size from which a record is compressed.
	packedFrom = 64 << 10
)

// Text returns the text of the annotation. others is the size of the other annotations, keys and values. If the
// annotations would become too large, the record is kept without the essence, and with the digests of its fields.
func (r Record) Text(others int, fields ...[]string) (string, error) {
	text, err := r.packed()
	if err == nil && len(text)+others > most && r.Essence != nil {
		if r, err = r.withFields(fields); err == nil {
			text, err = r.packed()
		}
	}
	if err != nil {
		return "", fmt.Errorf("record of handlers: %w", err)
	}
	return text, nil
}

func (r Record) packed() (string, error) {
	document, err := json.Marshal(r)
	if err != nil || len(document) <= packedFrom {
		return string(document), err
	}
	return packed(document)
}
