package pack

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// indexed is what an index has of an object.
type indexed struct {
	hash plumbing.Hash
	at   int64
	crc  uint32
}

// WriteIndex writes the index of a pack that is finished and has that name.
func (w *Writer) WriteIndex(out io.Writer, name plumbing.Hash) error {
	slices.SortFunc(w.index, func(a, b indexed) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	sum := sha1.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(out, sum), piece)
	put := func(numbers ...uint32) {
		for _, n := range numbers {
			_, _ = buffered.Write(binary.BigEndian.AppendUint32(buffered.AvailableBuffer(), n)) // Flush tells
		}
	}
	_, _ = buffered.WriteString("\xfftOc")
	put(2)
	ends := [256]uint32{}
	for i, one := range w.index {
		ends[one.hash[0]] = uint32(i + 1)
	}
	for i := range ends {
		if i > 0 {
			ends[i] = max(ends[i], ends[i-1])
		}
	}
	put(ends[:]...)
	for _, one := range w.index {
		_, _ = buffered.Write(one.hash[:])
	}
	for _, one := range w.index {
		put(one.crc)
	}
	var far []int64
	for _, one := range w.index {
		if one.at < 1<<31 {
			put(uint32(one.at))
			continue
		}
		put(1<<31 | uint32(len(far)))
		far = append(far, one.at)
	}
	for _, at := range far {
		put(uint32(at>>32), uint32(at))
	}
	_, _ = buffered.Write(name[:])
	if err := buffered.Flush(); err != nil {
		return err
	}
	_, err := buffered.Write(sum.Sum(nil))
	return errors.Join(err, buffered.Flush())
}
