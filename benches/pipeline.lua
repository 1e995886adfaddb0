-- Sixteen requests in one write, for wrk.
function init()
   local requests = {}
   for number = 1, 16 do
      requests[number] = wrk.format("GET", "/")
   end
   sixteen = table.concat(requests)
end

function request()
   return sixteen
end
