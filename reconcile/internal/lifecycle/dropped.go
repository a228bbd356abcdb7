package lifecycle

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// droppedFields remembers which fields of the status the kind's schema drops, and which ones it adds, at any depth:
// writing them in every reconcile would cost a call that changes nothing. After SentAgain the fields are sent again, since the schema may
// have been corrected. A field that is found in a stored status is removed from the list. It is safe for concurrent
// use.
type droppedFields struct {
	mu sync.Mutex
	// fields holds the time until which a field isn't sent. The keys are paths such as ".componentStatus.deployed" or
	// ".conditions[].reason".
	fields map[string]time.Time
	// defaulted are fields inside of maps that the schema adds. They are sent as they are stored: to send a map without
	// them would cost a call each time, after which they are there again.
	defaulted map[string]bool
}

// SentAgain is the time after which a dropped field is sent again.
const SentAgain = 10 * time.Minute

// without returns status without the fields that are known to be dropped. Fields of stored, the present status, count
// as not dropped. The result may share parts of status.
func (d *droppedFields) without(now time.Time, status, stored map[string]any) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.defaulted) > 0 {
		status, _ = d.complete("", status, stored).(map[string]any)
	}
	if len(d.fields) == 0 {
		return status
	}
	d.forget("", stored)
	return d.remove(now, "", status).(map[string]any)
}

// complete returns a value with the fields that the schema adds, as they are stored.
func (d *droppedFields) complete(path string, value, stored any) any {
	content, isMap := value.(map[string]any)
	there, wasMap := stored.(map[string]any)
	if !isMap || !wasMap {
		return value
	}
	completed := maps.Clone(content)
	for field, item := range there {
		at := path + "." + field
		if given, ok := content[field]; ok {
			completed[field] = d.complete(at, given, item)
		} else if d.defaulted[at] {
			completed[field] = item
		}
	}
	return completed
}

// forget removes the fields that are stored.
func (d *droppedFields) forget(path string, stored any) {
	switch v := stored.(type) {
	case map[string]any:
		for field, item := range v {
			at := path + "." + field
			delete(d.fields, at)
			d.forget(at, item)
		}
	case []any:
		for _, item := range v {
			d.forget(path+"[]", item)
		}
	}
}

func (d *droppedFields) remove(now time.Time, path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for field, item := range v {
			if at := path + "." + field; !now.Before(d.fields[at]) {
				kept[field] = d.remove(now, at, item)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = d.remove(now, path+"[]", item)
		}
		return kept
	}
	return value
}

// record compares the sent status with the stored one, and returns dropped fields that weren't known before.
func (d *droppedFields) record(now time.Time, sent, stored map[string]any) (missing []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, path := range dropped("", stored, sent) {
		if strings.Count(path, ".") < 2 || strings.Contains(path, "[]") {
			continue
		}
		if d.defaulted == nil {
			d.defaulted = map[string]bool{}
		}
		d.defaulted[path] = true
	}
	for _, path := range dropped("", sent, stored) {
		if d.fields == nil {
			d.fields = map[string]time.Time{}
		}
		if _, known := d.fields[path]; !known {
			missing = append(missing, path)
		}
		d.fields[path] = now.Add(SentAgain)
	}
	slices.Sort(missing)
	return missing
}

// dropped returns the paths of fields that are in sent but not in stored. Lists of different lengths aren't compared:
// somebody else changed them.
func dropped(path string, sent, stored any) (paths []string) {
	switch s := sent.(type) {
	case map[string]any:
		have, ok := stored.(map[string]any)
		if !ok {
			return nil
		}
		for field, value := range s {
			at := path + "." + field
			if there, found := have[field]; found {
				paths = append(paths, dropped(at, value, there)...)
			} else if value != nil {
				paths = append(paths, at)
			}
		}
	case []any:
		have, ok := stored.([]any)
		if !ok || len(have) != len(s) {
			return nil
		}
		for i, value := range s {
			paths = append(paths, dropped(path+"[]", value, have[i])...)
		}
	}
	return paths
}
