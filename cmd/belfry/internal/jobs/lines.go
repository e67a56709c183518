package jobs

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/jsonscan"
)

// maxLine bounds one line of a file of jobs: a payload of 1 MiB and what is around it.
const maxLine = 1<<20 + 64<<10

// lines reads a file of jobs.
type lines struct {
	r      *bufio.Reader
	file   string // which file it is: goes into the dedupe keys
	number int    // of the last line that was read
	offset int64  // bytes that were read
	sum    hash.Hash
	seen   map[[16]byte]int // how often each text stood; 16 bytes of its hash
}

func newLines(r io.Reader, file string) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), file: file, sum: sha256.New(), seen: map[[16]byte]int{}}
}

// fault says why this is no text at all, by how it begins; "" means that it may be.
func (l *lines) fault() string {
	begins, _ := l.r.Peek(4) // fewer where the file is that short
	return jsonscan.EncodingOf(bytes.TrimPrefix(begins, []byte(jsonscan.ByteOrderMark)))
}

// line is one job of the file, or what is wrong with it.
type line struct {
	number   int
	document json.RawMessage
	fault    string
}

// next returns the next line that is not blank; io.EOF after the last one.
func (l *lines) next() (line, error) {
	for {
		text, long, err := l.read()
		if err != nil {
			return line{}, err
		}
		found := line{number: l.number}
		whole := text
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(jsonscan.ByteOrderMark))) // some editors begin a file with it
		switch {
		case long:
			found.fault = fmt.Sprintf("is longer than %d bytes", maxLine)
		case len(text) == 0:
			continue
		default:
			found.document, found.fault = l.keyed(text, bytes.Index(whole, text))
		}
		return found, nil
	}
}

// read reads up to the end of a line. Of one that is too long the rest is read and left out.
func (l *lines) read() (text []byte, long bool, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		l.offset += int64(len(part))
		l.sum.Write(part)
		if long = long || len(text)+len(part) > maxLine; !long {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, errors.Is(err, io.EOF) && (len(text) > 0 || long):
			l.number++
			return text, long, nil
		}
		return nil, false, err
	}
}

// keyed is the object with a dedupe key, its own or one made of its text. What the server could not read, in the middle of a
// batch, is a fault of the line: it would be one of all lines sent with it. So many bytes of the line are before the text.
func (l *lines) keyed(text []byte, before int) (json.RawMessage, string) {
	hashed := sha256.Sum256(text)
	nth := l.seen[[16]byte(hashed[:16])]
	l.seen[[16]byte(hashed[:16])] = nth + 1
	if fault := jsonFault(text, before); fault != "" {
		return nil, fault
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, "is not a JSON object"
	}
	if _, has := fields["dedupe_key"]; has {
		return bytes.Clone(text), ""
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%q %d %x", l.file, nth, hashed))
	document := append([]byte(`{"dedupe_key":"line-`+hex.EncodeToString(key[:16])+`"`), ","[:min(len(fields), 1)]...)
	return append(document, bytes.TrimSpace(text[1:])...), ""
}

// maxDepth is how deep a line may nest: the batch around it nests two more.
const maxDepth = jsonscan.MaxDepth - 2

// jsonFault says why a text is no JSON that can be sent, with its place in the line; "" means that it is. So many bytes of
// the line are before the text.
func jsonFault(text []byte, before int) string {
	facts, err := jsonscan.Scan(text)
	var at *jsonscan.Error
	switch {
	case errors.As(err, &at):
		return fmt.Sprintf("is not JSON: %s (byte %d of the line)", at.Reason, before+at.Offset+1)
	case err != nil:
		return "is not JSON"
	case facts.Depth > maxDepth:
		return fmt.Sprintf("nests arrays and objects %d deep, at most %d are kept", facts.Depth, core.MaxPayloadDepth)
	}
	return ""
}

// mark is a place in the file: everything before it was answered.
func (l *lines) mark() place {
	return place{Lines: l.number, Offset: l.offset, Sum: hex.EncodeToString(l.sum.Sum(nil))}
}

// skip reads up to a place, if what is before it is the same text as then.
func (l *lines) skip(to place) (bool, error) {
	for l.offset < to.Offset {
		if _, err := l.next(); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return false, err
		}
	}
	return l.mark() == to, nil
}
