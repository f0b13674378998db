-- Applications for wrk, each with an id and a person of its own. Arguments: a file with a body a
-- line, in which '@' stands for the number; the token; what the numbers begin with. Prints one line
-- of JSON.
local threads = 0

function setup(thread)
    threads = threads + 1
    thread:set("thread_number", threads)
end

function init(args)
    prefix = args[3] .. thread_number .. "-"
    head = "POST /v1/decisions HTTP/1.1\r\nHost: " .. wrk.host .. ":" .. wrk.port ..
        "\r\nAuthorization: Bearer " .. args[2] ..
        "\r\nContent-Type: application/json\r\nContent-Length: "
    bodies = {}
    for line in io.lines(args[1]) do
        local pieces = {}
        for piece in (line .. "@"):gmatch("([^@]*)@") do
            pieces[#pieces + 1] = piece
        end
        bodies[#bodies + 1] = pieces
    end
    sent = 0
end

function request()
    sent = sent + 1
    local body = table.concat(bodies[sent % #bodies + 1], prefix .. sent)
    return head .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format('\n{"answers": %d, "seconds": %.6f, "p50_ms": %.3f, "p99_ms": %.3f, ' ..
        '"max_ms": %.3f, "refused": %d, "connect": %d, "read": %d, "write": %d, "timeout": %d}\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
        latency:percentile(99) / 1e3, latency.max / 1e3, errors.status, errors.connect,
        errors.read, errors.write, errors.timeout))
end
