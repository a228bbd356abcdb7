package dryrun

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// uidPrefix begins the uids made here. They are counted, so that the same calls make the
// same objects.
const uidPrefix = "d72770d0-0000-4000-8000-"

// nextUID returns the uid of the next object that is created.
func (s *storage) nextUID() types.UID {
	return types.UID(fmt.Sprintf("%s%012x", uidPrefix, s.uids+1))
}

// claimUID makes sure that uid isn't made again.
func (s *storage) claimUID(uid types.UID) {
	digits, ok := strings.CutPrefix(string(uid), uidPrefix)
	if !ok {
		return
	}
	if number, err := strconv.ParseUint(digits, 16, 48); err == nil && number > s.uids {
		s.uids = number
	}
}

// nameLetters are those of generated names, as API servers draw them: they make no words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

// The longest generated name, and how much of it is generated.
const (
	longestName   = 63
	nameGenerated = 5
)

// freeName returns a name that begins with prefix and that no object of the kind and
// namespace of at has.
func (s *storage) freeName(at address, prefix string) string {
	prefix = prefix[:min(len(prefix), longestName-nameGenerated)]
	for {
		s.names++
		letters := make([]byte, nameGenerated)
		number := s.names
		for i := range letters {
			letters[nameGenerated-1-i] = nameLetters[number%uint64(len(nameLetters))]
			number /= uint64(len(nameLetters))
		}
		at.name = prefix + string(letters)
		if s.get(at) == nil {
			return at.name
		}
	}
}
